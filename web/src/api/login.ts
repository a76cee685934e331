// Login and logout: the server answers with a cookie that scripts cannot read.
import { loggedOut, request, rights } from './call';

/** What this page may do. Without a login the server answers 401, and the page asks for a token. */
export async function learnRights(): Promise<void> {
  const me = await request('api/v1/whoami');
  rights.value = {
    name: String(me['name'] ?? ''),
    scope: String(me['scope'] ?? 'admin'),
    readOnly: me['read_only'] === true,
    login: me['no_auth'] === false,
  };
}

const form = (members: Record<string, string>): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
  body: new URLSearchParams(members).toString(),
});

export async function login(token: string): Promise<void> {
  await request('login', form({ token }));
  loggedOut.value = false;
  await learnRights();
}

export async function logout(): Promise<void> {
  await request('logout', form({}));
  loggedOut.value = true;
}
