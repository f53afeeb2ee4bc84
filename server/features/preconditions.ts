import { Problem } from '../contract/errors.ts'
import type { PlanName } from '../contract/instance.ts'
import { reservedSlugs } from '../contract/shared.ts'
import type { AccountRow } from '../store/tables.ts'
import type { Caller } from './context.ts'
import { plans } from '../contract/plans.ts'
import { effectivePlan } from './plans.ts'

/** Pure precondition checks. Each throws a `Problem` with a fix if it fails. */

export function requireVerifiedEmail(caller: Caller): void {
  if (!caller.email_verified) throw new Problem('email_not_verified', 'Your email address is not verified. Verify it, then create the project again.')
}

export function requireProjectCapacity(plan: PlanName, count: number): void {
  const maxProjects = plans[plan].projects
  if (maxProjects !== null && count >= maxProjects)
    throw new Problem(
      'plan_limit_reached',
      `The plan ${plan} includes ${maxProjects} projects, and you have ${count}. Delete one or switch to a larger plan.`,
    )
}

export function requireReplicaCapacity(plan: PlanName, replicas: number): void {
  const { max_replicas } = plans[plan]
  if (replicas > max_replicas)
    throw new Problem(
      'plan_limit_reached',
      `The plan ${plan} runs at most ${max_replicas} replicas of a service, and you asked for ${replicas}. Ask for fewer, or switch to a larger plan.`,
    )
}

export function requireAvailableSlug(slug: string, isTaken: boolean): void {
  if (reservedSlugs.has(slug) || slug.includes('--') || slug.startsWith('xn--'))
    throw new Problem('slug_reserved', `The slug ${slug} is reserved. Choose another, without two hyphens in a row.`)
  if (isTaken) throw new Problem('slug_taken', `The slug ${slug} is taken. Choose another.`)
}

export function requireAlwaysWarmPlan(plan: PlanName, requested: boolean | undefined): void {
  if (requested === true && !plans[plan].always_warm)
    throw new Problem('paid_plan_required', 'Always warm requires a paid plan. Switch to basic or larger, or leave always_warm off.')
}

export function requirePaymentMethod(
  account: Pick<AccountRow, 'plan' | 'trial_ends_at' | 'has_payment_method'>,
  feature: string,
  now_ms: number,
): void {
  const message = explainMissingPayment(account, feature, now_ms)
  if (message !== undefined) throw new Problem('payment_method_required', message)
}

/** Why an account cannot have a feature that needs a payment method. */
export function explainMissingPayment(
  account: Pick<AccountRow, 'plan' | 'trial_ends_at' | 'has_payment_method'>,
  feature: string,
  now_ms: number,
): string | undefined {
  if (!plans[effectivePlan(account, now_ms)].requires_payment_method || account.has_payment_method === 1) return undefined
  return `${feature} needs a payment method on the plan ${account.plan}. Add a card, or move to a larger plan.`
}

/** The host syntax of server/source/repository-address.ts, because the URL parser does not validate hosts of ssh and git URLs. */
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9.])?|\[[0-9a-f:.]+\])$/i
const allowedSchemes = ['https:', 'http:', 'ssh:', 'git:']

export function requireAllowedRepository(url: string, caller: Caller): void {
  const reject = (message: string): never => {
    throw new Problem('invalid_input', 'The repository cannot be linked.', { issues: [{ path: 'repo_url', message }] })
  }
  const address = new URL(url)
  if (address.hash !== '') reject('Remove the part after #. Set the branch in repo_branch.')
  if (!isPercentEncoded(address.pathname) || /%(?:[01][0-9a-f]|7f)/i.test(address.pathname))
    reject('The path of this URL is not correctly percent-encoded.')
  if (address.protocol === 'file:') {
    if (address.pathname.length < 2) reject('Write file:// and an absolute path, such as file:///home/me/app.git.')
    if (!caller.is_instance_owner) reject('Only the owner of the instance can use a folder of this machine. Use an https or ssh URL.')
    if (address.host !== '') reject('Write file:// and an absolute path, such as file:///home/me/app.git.')
    return
  }
  if (!allowedSchemes.includes(address.protocol)) reject('Use a URL that starts with https, http, ssh or git.')
  if (address.hostname === '') reject('This URL has no host.')
  if (!hostPattern.test(address.hostname)) reject('The host of this URL is not a valid hostname. Check it for typos.')
  if (address.username.startsWith('-') || /^%2d/i.test(address.username)) reject('The username in this URL starts with a hyphen.')
  if (!isPercentEncoded(address.username) || !isPercentEncoded(address.password))
    reject('The username or password in this URL is not correctly percent-encoded.')
  if (address.pathname.length < 2) reject('This URL has no repository path.')
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
    throw new Problem('project_not_connected', 'This project has no git repository. Set repo_url, or deploy a folder with homeport deploy.')
}

export function requireRollbackTarget(deployment: { target: string; status: string }): void {
  if (deployment.target !== 'production')
    throw new Problem('rollback_not_allowed', 'You can only roll back to a production deployment; this one is a preview.')
  if (deployment.status !== 'ready')
    throw new Problem('rollback_not_allowed', `You can only roll back to a deployment that was ready; this one is ${deployment.status}.`)
}
