import { domainToUnicode } from 'node:url'
import { Problem } from '../contract/errors.ts'

const reservedSuffixes = ['localhost', 'localdomain']

/** Rejects hostnames that match the pattern but cannot be custom domains. `instanceHostnames`: names of this instance, with `*.` for all below. */
export function requireAllowedHostname(hostname: string, instanceHostnames: readonly string[]): void {
  const reject = (message: string): never => {
    throw new Problem('invalid_input', 'This hostname cannot be added.', { issues: [{ path: 'hostname', message }] })
  }
  const labels = hostname.split('.')
  if (labels.some((label) => label.length > 63)) reject('A label between two dots has at most 63 characters.')
  // Browsers parse a name whose last label is a number as an IP address, also in octal and hex: 0x7f.1 is 127.0.0.1.
  if (/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) reject('This is an IP address or is parsed as one. Use a hostname.')
  const isUnder = (name: string) => hostname === name || hostname.endsWith(`.${name}`)
  if (reservedSuffixes.some(isUnder)) reject('Names under localhost are assigned by the instance: every project already has SLUG.localhost.')
  for (const name of instanceHostnames) {
    if (name === hostname) reject('This is a name of the instance itself.')
    if (name.startsWith('*.') && isUnder(name.slice(2)))
      reject(`Names under ${name.slice(2)} are assigned by the instance: every project already has SLUG.${name.slice(2)}.`)
  }
  // Browsers do not open names with invalid Punycode.
  if (labels.some((label) => label.startsWith('xn--') && domainToUnicode(label) === label))
    reject('A label that starts with xn-- is not valid Punycode.')
}
