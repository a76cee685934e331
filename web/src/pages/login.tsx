// Login with a token.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { messageOf, visible } from '../base/text';
import { login } from '../api/login';

const failure = signal('');
const busy = signal(false);

async function enter(form: HTMLFormElement): Promise<void> {
  busy.value = true;
  failure.value = '';
  try {
    await login(String(new FormData(form).get('token') ?? '').trim());
  } catch (error) {
    failure.value = messageOf(error);
  } finally {
    busy.value = false;
  }
}

export function Login(): JSX.Element {
  return (
    <main class="login" id="main" tabIndex={-1}>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void enter(event.currentTarget as HTMLFormElement);
        }}
      >
        <h1>leasehold</h1>
        <p class="sub">This server asks for a token. Create one on the server's machine:</p>
        <pre class="command" tabIndex={0}>leasehold token create me --scope admin</pre>
        <label class="field">
          <span>Token</span>
          <input name="token" type="password" required autoFocus autocomplete="current-password" placeholder="lht_…" />
        </label>
        {failure.value ? (
          <div class="failure" role="alert">
            {visible(failure.value)}
          </div>
        ) : null}
        <div class="dialog-acts">
          <button class="primary" disabled={busy.value}>
            Log in
          </button>
        </div>
      </form>
    </main>
  );
}
