import type { EmailMessage } from '../email/email.ts'
import type { FeatureDeps } from './deps.ts'

/** The origin of links: the network address of this machine if network access is open, else its local address. */
export function linkOrigin(deps: Pick<FeatureDeps, 'lan' | 'instance'>): string {
  const { open, dashboard_urls } = deps.lan.status()
  return new URL((open ? dashboard_urls[0] : undefined) ?? deps.instance().api_url).origin
}

const linkValidity = 'The link works once and expires in 7 days. If you did not expect this email, you can ignore it.'

export const invitationEmail = ({ to, owner_email, url }: { to: string; owner_email: string; url: string }): EmailMessage => ({
  to,
  subject: 'You are invited to a team on Homeport',
  text: `${owner_email} invites you to use their projects on Homeport:\n\n${url}\n\n${linkValidity}\n`,
})

export const verificationEmail = ({ to, url }: { to: string; url: string }): EmailMessage => ({
  to,
  subject: 'Verify your email address for Homeport',
  text: `Open this link to verify your email address and sign in:\n\n${url}\n\n${linkValidity}\n`,
})

export const passwordResetEmail = ({ to, url }: { to: string; url: string }): EmailMessage => ({
  to,
  subject: 'Reset your Homeport password',
  text: `We received a request to reset the password of this account. Choose a new password here:\n\n${url}\n\n${linkValidity}\n`,
})

/** Sent when someone signs up with a known address, so that the sign-up page does not reveal that it is known. */
export const accountExistsEmail = ({ to, url }: { to: string; url: string }): EmailMessage => ({
  to,
  subject: 'You already have a Homeport account',
  text: `We received a request to create an account with this email address, but it already has one. Sign in here:\n\n${url}\n\nIf this was not you, you can ignore this email.\n`,
})
