import { AcmeError } from './acme-client.ts'

/** What happened, why, and what to do, for the person who runs the instance. `is_validation`: the authority looked at the name and did not like it. */
export function explainAcmeError(error: unknown, name: string): { message: string; is_validation: boolean } {
  if (!(error instanceof AcmeError))
    return { message: `The certificate of ${name} could not be stored or requested. The log has the reason.`, is_validation: false }
  const detail = sanitize(error.message)
  const domain = name.replace(/^\*\./, '')
  const explain = (why: string, fix: string) => ({ message: `No certificate for ${name}: ${why} ${fix}`, is_validation: true })
  switch (error.type) {
    case 'dns':
      return explain(
        `the certificate authority did not find the name in DNS. (${detail})`,
        `Add an A record of ${domain} with the address of this instance.`,
      )
    case 'connection':
    case 'tls':
      return explain(
        `the certificate authority could not connect to ${domain}. (${detail})`,
        'Its port 80 must lead to this instance’s HTTP port for apps: check the A record, the firewall and port forwarding.',
      )
    case 'unauthorized':
    case 'incorrectResponse':
      return explain(
        name.startsWith('*.') ? `the DNS record of the challenge was not found. (${detail})` : `another server answers at ${domain}. (${detail})`,
        name.startsWith('*.')
          ? `Check that the DNS driver may change the zone of ${domain}.`
          : 'Point the A record, and an AAAA record if there is one, to this instance.',
      )
    case 'caa':
      return explain('a CAA record of the domain forbids this certificate authority.', 'Allow it in the CAA record, or remove that record.')
    case 'rateLimited':
      return {
        message: `No certificate for ${name}: the certificate authority allows no more now. (${detail}) It is tried again later.`,
        is_validation: false,
      }
    case 'dnsDriver':
      return { message: `No certificate for ${name}: ${detail} Check the variables of the DNS driver.`, is_validation: false }
    case 'unreachable':
      return { message: `No certificate for ${name}: ${detail} Check this machine’s connection to the internet.`, is_validation: false }
    default:
      return { message: `No certificate for ${name}: ${detail}`, is_validation: false }
  }
}

/** The authority's words, which come from another machine. */
const sanitize = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, 300)
