/**
 * Storage key of the session of this origin. A cookie would not do, because cookies ignore ports: an app on another port of this host could read or
 * replace it.
 */
const storageKey = 'homeport.session'

/** Header that authenticates a request as the signed-in user. */
export function sessionHeaders(): Record<string, string> {
  try {
    const session = localStorage.getItem(storageKey)
    return session === null ? {} : { 'x-homeport-session': session }
  } catch {
    // Without storage, the browser cannot stay signed in.
    return {}
  }
}

/** Session of a sign-in. Without it the browser has a cookie: on the local network without HTTPS, where no app has its own port. */
export function storeSession(session: string | undefined): void {
  if (session === undefined) localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, session)
}
