/** Where the dashboard is served. */
export const base = '/app'

/** The instance that served this page. */
export const homeId = 'local'

/** Below which the pages of an instance are. It is in the address, so that reload, back and links keep the instance. */
export function baseOf(id: string): string {
  return id === homeId ? base : `${base}/on/${encodeURIComponent(id)}`
}

/** Whose page an address is. */
export function instanceIn(pathname: string): string {
  const [, id] = /^\/app\/on\/([^/]+)/.exec(pathname) ?? []
  return id === undefined ? homeId : plain(id)
}

/** A path that leads where it says: names that come from an instance may hold steps upwards, out of its part of the dashboard. */
export function isStraight(path: string): boolean {
  const [place = ''] = path.split(/[?#]/, 1)
  return !/\/\/|\\|(^|\/)(\.|%2e){1,2}(\/|$)|[\t\n\r]/i.test(place)
}

function plain(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
