/** Where the session of this origin lies. Cookies ignore ports: an app on another port of this host would see one, and could replace it. */
const storageKey = 'homeport.session'

/** What shows a request to be of who signed in here. */
export function sessionHeaders(): Record<string, string> {
  try {
    const session = localStorage.getItem(storageKey)
    return session === null ? {} : { 'x-homeport-session': session }
  } catch {
    // A browser that keeps nothing signs nobody in.
    return {}
  }
}

/** Of a sign-in. Without one the browser has a cookie: on the network without HTTPS, where no app has a port of its own. */
export function storeSession(session: string | undefined): void {
  if (session === undefined) localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, session)
}
