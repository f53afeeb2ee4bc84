import type { EmailMessage } from '../email/email.ts'
import type { FeatureDeps } from './deps.ts'

/** Where a link leads: to this machine's address on the network while that is open, else to this very machine. */
export function linkOrigin(deps: Pick<FeatureDeps, 'lan' | 'instance'>): string {
  const { open, dashboard_urls } = deps.lan.status()
  return new URL((open ? dashboard_urls[0] : undefined) ?? deps.instance().api_url).origin
}

const linkValidity = 'The link is good once, for 7 days. Did you not expect it? Then do nothing, and nothing happens.'

export const invitationEmail = ({ to, owner_email, url }: { to: string; owner_email: string; url: string }): EmailMessage => ({
  to,
  subject: 'An invitation to a team on Homeport',
  text: `${owner_email} invites you to use their projects on Homeport:\n\n${url}\n\n${linkValidity}\n`,
})

export const verificationEmail = ({ to, url }: { to: string; url: string }): EmailMessage => ({
  to,
  subject: 'Verify your address for Homeport',
  text: `This link shows that this address is yours, and lets you in:\n\n${url}\n\n${linkValidity}\n`,
})

export const passwordResetEmail = ({ to, url }: { to: string; url: string }): EmailMessage => ({
  to,
  subject: 'Another password for Homeport',
  text: `Somebody, likely you, forgot the password of this address. Choose another one here:\n\n${url}\n\n${linkValidity}\n`,
})

/** To somebody who is here already, so that the page of the sign-up need not say so. */
export const accountExistsEmail = ({ to, url }: { to: string; url: string }): EmailMessage => ({
  to,
  subject: 'You have an account on Homeport',
  text: `Somebody, likely you, asked for an account with this address. There is one already; sign in here:\n\n${url}\n\nWas it not you? Then do nothing, and nothing happens.\n`,
})
