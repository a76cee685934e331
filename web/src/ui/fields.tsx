// Filters: each is a member of the address, so that a link shows the same view.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { param, setQuery } from '../base/router';

interface SelectProps {
  name: string;
  label: string;
  options: readonly string[];
  all?: string;
}
export function Select({ name, label, options, all = 'all' }: SelectProps): JSX.Element {
  return (
    <label class="filter">
      <span>{label}</span>
      <select value={param(name)} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{all}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TextProps {
  name: string;
  label: string;
  placeholder?: string;
  /** `/` moves the focus here. */
  search?: boolean;
  type?: 'text' | 'number' | 'datetime-local';
  list?: string[];
}
export function Text({ name, label, placeholder, search = false, type, list }: TextProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  const value = param(name);
  useEffect(() => {
    if (input.current && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
  const id = `${name}-choices`;
  return (
    <label class={search ? 'filter filter-wide' : 'filter'}>
      <span>{label}</span>
      <input
        ref={input}
        type={type ?? (search ? 'search' : 'text')}
        defaultValue={value}
        placeholder={placeholder}
        data-search={search ? '' : undefined}
        list={list ? id : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          const text = event.currentTarget.value;
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => setQuery({ [name]: text }), 250);
        }}
      />
      {list ? (
        <datalist id={id}>
          {list.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      ) : null}
    </label>
  );
}

interface ChoiceProps {
  name: string;
  label: string;
  options: readonly (readonly [value: string, word: string])[];
  /** What is chosen while the address says nothing. */
  otherwise?: string;
}
/** A few values side by side; without `otherwise`, the first one is the default and not in the address. */
export function Choice({ name, label, options, otherwise }: ChoiceProps): JSX.Element {
  const chosen = param(name) || (otherwise ?? options[0]?.[0]);
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([value, word], index) => (
        <button key={value} aria-pressed={chosen === value} onClick={() => setQuery({ [name]: index === 0 && otherwise === undefined ? '' : value })}>
          {word}
        </button>
      ))}
    </div>
  );
}
