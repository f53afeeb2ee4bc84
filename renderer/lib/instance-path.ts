/** Where the dashboard is served. */
export const basePath = '/app'

/** The instance that served this page. */
export const localInstanceId = 'local'

/** Below which the pages of an instance are. It is in the address, so that reload, back and links keep the instance. */
export function instanceBasePath(id: string): string {
  return id === localInstanceId ? basePath : `${basePath}/on/${encodeURIComponent(id)}`
}

/** Whose page an address is. */
export function instanceIdFromPath(pathname: string): string {
  const [, id] = /^\/app\/on\/([^/]+)/.exec(pathname) ?? []
  return id === undefined ? localInstanceId : decodeOrKeep(id)
}

/** A path that leads where it says: names that come from an instance may hold steps upwards, out of its part of the dashboard. */
export function isSafePath(path: string): boolean {
  const [pathname = ''] = path.split(/[?#]/, 1)
  return !/\/\/|\\|(^|\/)(\.|%2e){1,2}(\/|$)|[\t\n\r]/i.test(pathname)
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
