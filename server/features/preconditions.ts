import { Problem } from '../contract/errors.ts'
import type { PlanName } from '../contract/instance.ts'
import { reservedSlugs } from '../contract/shared.ts'
import type { AccountRow } from '../store/tables.ts'
import type { Caller } from './context.ts'
import { plans } from '../contract/plans.ts'
import { effectivePlan } from './plans.ts'

/** Pure rules, one function each: they pass or throw the Problem that says what to do. */

export function requireVerifiedEmail(caller: Caller): void {
  if (!caller.email_verified) throw new Problem('email_not_verified', 'Verify your email address first; then create the project again.')
}

export function requireProjectCapacity(plan: PlanName, count: number): void {
  const maxProjects = plans[plan].projects
  if (maxProjects !== null && count >= maxProjects)
    throw new Problem(
      'plan_limit_reached',
      `The plan ${plan} holds ${maxProjects} projects, and you have ${count}. Delete one or move to a larger plan.`,
    )
}

export function requireAvailableSlug(slug: string, isTaken: boolean): void {
  if (reservedSlugs.has(slug) || slug.includes('--') || slug.startsWith('xn--'))
    throw new Problem('slug_reserved', `The slug ${slug} is reserved. Choose another, without two hyphens in a row.`)
  if (isTaken) throw new Problem('slug_taken', `The slug ${slug} is taken. Choose another.`)
}

export function requireAlwaysWarmPlan(plan: PlanName, requested: boolean | undefined): void {
  if (requested === true && !plans[plan].always_warm)
    throw new Problem('paid_plan_required', 'Keeping an app always warm needs a paid plan. Move to basic or larger, or leave always_warm off.')
}

export function requirePaymentMethod(
  account: Pick<AccountRow, 'plan' | 'trial_ends_at' | 'has_payment_method'>,
  feature: string,
  now_ms: number,
): void {
  if (plans[effectivePlan(account, now_ms)].requires_payment_method && account.has_payment_method === 0)
    throw new Problem(
      'payment_method_required',
      `${feature} needs a payment method on the plan ${account.plan}. Add a card, or move to a larger plan.`,
    )
}

/** As server/source/repository-address.ts reads it: the URL parser leaves the hosts of ssh and git as they were written. */
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9.])?|\[[0-9a-f:.]+\])$/i
const allowedSchemes = ['https:', 'http:', 'ssh:', 'git:']

export function requireAllowedRepository(url: string, caller: Caller): void {
  const reject = (message: string): never => {
    throw new Problem('invalid_input', 'The repository cannot be linked.', { issues: [{ path: 'repo_url', message }] })
  }
  const address = new URL(url)
  if (address.hash !== '') reject('Leave out what follows the #: a branch is given in repo_branch.')
  if (!isPercentEncoded(address.pathname) || /%(?:[01][0-9a-f]|7f)/i.test(address.pathname))
    reject('The path in this address is not percent-encoded in order.')
  if (address.protocol === 'file:') {
    if (address.pathname.length < 2) reject('Write file:// and an absolute path, such as file:///home/me/app.git.')
    if (!caller.is_instance_owner) reject('A folder of this machine is for the owner of the instance alone. Give an https or ssh address.')
    if (address.host !== '') reject('Write file:// and an absolute path, such as file:///home/me/app.git.')
    return
  }
  if (!allowedSchemes.includes(address.protocol)) reject('Use an address that starts with https, http, ssh or git.')
  if (address.hostname === '') reject('This address names no host.')
  if (!hostPattern.test(address.hostname)) reject('The host in this address is no host name. Check it for a typing error.')
  if (address.username.startsWith('-') || /^%2d/i.test(address.username)) reject('The user name in this address starts with a hyphen.')
  if (!isPercentEncoded(address.username) || !isPercentEncoded(address.password))
    reject('User or password in this address are not percent-encoded in order.')
  if (address.pathname.length < 2) reject('This address names no repository on that host.')
}

function isPercentEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined
  } catch {
    return false
  }
}

export function requireConnectedRepository(repo_url: string | null): void {
  if (repo_url === null)
    throw new Problem('project_not_connected', 'This project has no Git repository. Set repo_url, or deploy a folder with homeport deploy.')
}

export function requireRollbackTarget(deployment: { target: string; status: string }): void {
  if (deployment.target !== 'production')
    throw new Problem('rollback_not_allowed', 'Only a production deployment can be rolled back to; this is a preview.')
  if (deployment.status !== 'ready')
    throw new Problem('rollback_not_allowed', `Only a deployment that was ready can be rolled back to; this one is ${deployment.status}.`)
}
