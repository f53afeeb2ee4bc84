import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'

const { target_concurrency, decisions, averaging_window_ms, stabilization_window_ms } = limits.autoscaling

const replicaCount = z.number().int().min(limits.replicas.min).max(limits.replicas.max)

/** Autoscaling by concurrent requests per replica. */
export const autoscaling = z
  .strictObject({
    min: replicaCount.describe('The least number of replicas.'),
    max: replicaCount.describe('The greatest number of replicas.'),
    target_concurrency: z
      .number()
      .int()
      .min(target_concurrency.min)
      .max(target_concurrency.max)
      .describe('How many open requests each replica should have, WebSockets included.'),
  })
  .refine(({ min, max }) => min <= max, { path: ['max'], error: 'The maximum is less than the minimum.' })
  .describe(
    `Changes the number of replicas with the load, averaged over ${averaging_window_ms / 1_000} s. More replicas start at once; fewer run once the load has asked for no more during ${stabilization_window_ms / 1_000} s.`,
  )
export type Autoscaling = z.output<typeof autoscaling>

/** `minimum` and `maximum`: the number was outside of the range. `memory`: the machine has no memory for all replicas that the load needs. */
const scalingReasons = ['load_above_target', 'load_below_target', 'minimum', 'maximum', 'memory'] as const
export type ScalingReason = (typeof scalingReasons)[number]

const scalingDecision = z.object({
  time: dateTime,
  from: z.number().int().describe('Replicas before.'),
  to: z.number().int().describe('Replicas after.'),
  reason: z.enum(scalingReasons),
  concurrency: z
    .number()
    .describe('Open requests of all replicas, on average; for fewer replicas the greatest average within the stabilization window.'),
  target_concurrency: z.number().int().describe('The target for each replica.'),
  recommended: z.number().int().describe('The number for this load, which the minimum, the maximum, the plan or the memory may not allow.'),
  message: z.string(),
})
export type ScalingDecision = z.output<typeof scalingDecision>

/** Why the number of replicas changed, as a sentence. */
export function explainScaling(decision: Omit<ScalingDecision, 'time' | 'message'>): string {
  const { from, to, reason, concurrency, target_concurrency: target, recommended } = decision
  const change = `Scaled from ${from} to ${to}`
  if (reason === 'minimum') return `${change}: the minimum is ${to}.`
  if (reason === 'maximum') return `${change}: the maximum is ${to}.`
  const load = `${concurrency} concurrent ${concurrency === 1 ? 'request' : 'requests'} for ${from} ${from === 1 ? 'replica' : 'replicas'}, target ${target}`
  if (reason === 'memory')
    return `${to === from ? `Stayed at ${to}` : change}: ${load}. The load needs ${recommended}, and the memory of this machine holds no more than ${to}.`
  if (reason === 'load_below_target') return `${change}: at most ${load}, for ${stabilization_window_ms / 1_000} s.`
  return `${change}: ${load}${recommended > to ? `. The load needs ${recommended}, and the maximum is ${to}` : ''}.`
}

export const autoscalingOperations = {
  listScalingDecisions: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/scaling-decisions',
    resource: 'project',
    group: 'Instance',
    summary: 'List the changes that autoscaling made to the number of replicas, newest first',
    description: `The last ${decisions} are kept.`,
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ decisions: z.array(scalingDecision) }) },
    errors: ['project_not_found'],
  }),
}
