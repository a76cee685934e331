// Questions before an act, and its outcome.
//
//   ask({ title: 'Revoke deploy?', text: '…', act: 'Revoke', fields: [reason], run: ({ reason }) => call(…) });
import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf, visible } from '../base/text';

export interface Input {
  name: string;
  label: string;
  required?: boolean;
  value?: string;
  hint?: string;
  list?: string[];
  type?: 'text' | 'number' | 'area';
}

export interface Question {
  title: string;
  text?: ComponentChildren;
  act: string;
  danger?: boolean;
  fields?: Input[];
  /** Performs the act; the answer is the text to show when it is done, or nothing. */
  run: (values: Record<string, string>) => Promise<string | void>;
}

const question = signal<Question | null>(null);
const failure = signal('');
const busy = signal(false);

export function ask(next: Question): void {
  failure.value = '';
  busy.value = false;
  question.value = next;
}

interface Toast {
  id: number;
  text: string;
  bad: boolean;
}
const toasts = signal<Toast[]>([]);
let lastToast = 0;
export function say(text: string, bad = false): void {
  lastToast += 1;
  const toast = { id: lastToast, text, bad };
  toasts.value = [...toasts.value.slice(-3), toast];
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one !== toast);
  }, bad ? 12_000 : 6_000);
}

/** Performs something and shows its outcome. */
export async function perform(what: () => Promise<string | void>): Promise<void> {
  try {
    const text = await what();
    if (text) say(text);
  } catch (error) {
    say(messageOf(error), true);
  }
}

async function run(asked: Question, form: HTMLFormElement): Promise<void> {
  busy.value = true;
  failure.value = '';
  try {
    const values = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const text = await asked.run(values);
    if (question.value === asked) question.value = null;
    if (text) say(text);
  } catch (error) {
    failure.value = messageOf(error);
  } finally {
    busy.value = false;
  }
}

function Field({ input, first }: { input: Input; first: boolean }): JSX.Element {
  const shared = { name: input.name, required: input.required ?? false, autoFocus: first, spellcheck: false };
  return (
    <label class="field">
      <span>
        {input.label}
        {input.required ? '' : ' (optional)'}
      </span>
      {input.type === 'area' ? (
        <textarea {...shared} rows={6} defaultValue={input.value ?? ''} />
      ) : (
        <input {...shared} type={input.type ?? 'text'} defaultValue={input.value ?? ''} list={input.list ? `${input.name}-list` : undefined} autocomplete="off" />
      )}
      {input.list ? (
        <datalist id={`${input.name}-list`}>
          {input.list.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      ) : null}
      {input.hint ? <small>{input.hint}</small> : null}
    </label>
  );
}

export function Dialogs(): JSX.Element {
  const asked = question.value;
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (asked && box.current && !box.current.open) box.current.showModal();
  }, [asked]);
  return (
    <>
      {asked ? (
        <dialog ref={box} class="dialog" aria-labelledby="dialog-title" onClose={() => (question.value = null)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void run(asked, event.currentTarget as HTMLFormElement);
            }}
          >
            <h2 id="dialog-title">{visible(asked.title)}</h2>
            {asked.text ? <div class="dialog-text">{asked.text}</div> : null}
            {asked.fields?.map((input, index) => <Field key={input.name} input={input} first={index === 0} />)}
            {failure.value ? (
              <div class="failure" role="alert">
                {visible(failure.value)}
              </div>
            ) : null}
            <div class="dialog-acts">
              <button type="button" onClick={() => box.current?.close()}>
                Keep it as it is
              </button>
              <button type="submit" class={asked.danger ? 'danger' : 'primary'} disabled={busy.value} autoFocus={!asked.fields?.length}>
                {asked.act}
              </button>
            </div>
          </form>
        </dialog>
      ) : null}
      <div class="toasts" role="status" aria-live="polite">
        {toasts.value.map((toast) => (
          <div key={toast.id} class={`toast ${toast.bad ? 'toast-bad' : ''}`}>
            {visible(toast.text)}
          </div>
        ))}
      </div>
    </>
  );
}
