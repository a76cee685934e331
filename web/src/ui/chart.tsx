// Bars over time: how much of something happened in each step of a window.
import type { JSX } from 'preact';
import { digits } from '../base/text';

interface BarsProps {
  label: string;
  values: number[];
  tone: string;
  /** Words for the left and the right end. */
  from: string;
  to: string;
}

const height = 54;
const step = 10;

export function Bars({ label, values, tone, from, to }: BarsProps): JSX.Element {
  const top = Math.max(1, ...values);
  const width = values.length * step;
  return (
    <figure class="bars">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${digits(values.reduce((sum, one) => sum + one, 0))}, at most ${digits(top)} in one step`}>
        <path class="bars-base" d={`M0 ${height - 0.5}H${width}`} />
        {values.map((value, index) => {
          const size = value === 0 ? 0 : Math.max(2, (value / top) * (height - 4));
          return <rect key={index} class={`fill-${tone}`} x={index * step + 1.5} y={height - size} width={step - 3} height={size} rx="1.5" />;
        })}
      </svg>
      <figcaption>
        <span>{from}</span>
        <span>{to}</span>
      </figcaption>
    </figure>
  );
}
