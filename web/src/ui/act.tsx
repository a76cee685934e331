// Buttons that perform acts. If the user may not perform an act, its button is disabled and says why.
import type { ComponentChildren, JSX } from 'preact';
import { whyNot, type Act } from '../api/call';
import { ask, perform, type Question } from './dialog';

interface ActButtonProps {
  act: Act;
  children: ComponentChildren;
  /** Asks first; destructive acts always do. */
  question?: Question | (() => Question);
  run?: () => Promise<string | void>;
  class?: string;
  disabled?: boolean;
  label?: string;
}

export function ActButton({ act, children, question, run, class: extra = '', disabled = false, label }: ActButtonProps): JSX.Element {
  const why = whyNot(act);
  return (
    <button
      class={extra}
      disabled={disabled || why !== ''}
      title={why || undefined}
      aria-label={label}
      onClick={(event) => {
        event.stopPropagation();
        if (question) ask(typeof question === 'function' ? question() : question);
        else if (run) void perform(run);
      }}
    >
      {children}
    </button>
  );
}

export const reason = (required: boolean): NonNullable<Question['fields']>[number] => ({
  name: 'reason',
  label: 'Reason',
  required,
  hint: 'The holder, the events and the audit log show it.',
});
