import { domainToUnicode } from 'node:url'
import { Problem } from '../contract/errors.ts'

const reservedSuffixes = ['localhost', 'localdomain']

/** Refuses what the pattern of a hostname allows and a name of one's own may not be. `own`: names of this instance. */
export function requireAllowedHostname(hostname: string, instanceHostnames: readonly string[]): void {
  const reject = (message: string): never => {
    throw new Problem('invalid_input', 'This hostname cannot be added.', { issues: [{ path: 'hostname', message }] })
  }
  const labels = hostname.split('.')
  if (labels.some((label) => label.length > 63)) reject('A part between two dots has at most 63 characters.')
  // Browsers read a name whose last part is a number as an IP address, in base 8 and 16 too: 0x7f.1 is 127.0.0.1.
  if (/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) reject('This is an IP address, or reads as one. Give a name.')
  const isUnder = (name: string) => hostname === name || hostname.endsWith(`.${name}`)
  if (reservedSuffixes.some(isUnder)) reject('Names under localhost are given by the instance: a project has slug.localhost by itself.')
  if (instanceHostnames.includes(hostname)) reject('This is a name of the instance itself.')
  // What a browser cannot read of the alphabet for names in other scripts, it does not open.
  if (labels.some((label) => label.startsWith('xn--') && domainToUnicode(label) === label)) reject('A part that starts with xn-- stands for no name.')
}
