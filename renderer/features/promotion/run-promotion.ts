import { navigate } from 'wouter/use-browser-location'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { upsertDeployment, upsertProject, removeProject } from '../../api/query-cache.ts'
import { type PromotionReportLine, putReportLine } from '../../../server/client/promotion/report.ts'
import type { PromotionProgress, PromotionRequest } from '../../../server/client/promotion/request.ts'
import { promotionStepNames, promotionSteps } from '../../../server/client/promotion/steps.ts'
import { undoPromotion } from '../../../server/client/promotion/undo.ts'
import { toPromotionClient } from '../../api/promotion-sides.ts'
import { toApiError } from '../../lib/api-error.ts'
import { createIdempotencyKey } from '../../lib/idempotency-key.ts'
import { createRateEstimator } from '../../api/use-upload.ts'
import { instanceBasePath } from '../../lib/instance-path.ts'
import { type InstanceConnection, useConnection } from '../../stores/connection.ts'
import { type Promotion, promotionKey, usePromotions } from '../../stores/promotions.ts'
import { useUi } from '../../stores/ui.ts'
import { removeStoredPromotion, acquirePromotionLock, storePromotion, type StoredPromotion, readStoredPromotions } from './promotion-storage.ts'

/** Runs the steps of a promotion, independent of the open page. After a failure it waits for a retry or for the changes to be undone. */
export function startPromotion(from: InstanceConnection, to: InstanceConnection, request: PromotionRequest, notCopied: PromotionReportLine[]): void {
  const key = promotionKey(from.id, request.from.slug)
  if (usePromotions.getState().promotions.some((one) => one.key === key && one.state !== 'done')) return
  void acquirePromotionLock(key, { ifAvailable: true }).then((release) => {
    if (release) createPromotion({ from, to, request, release, notCopied }).retry()
    else {
      const text = `Another dashboard window is already promoting ${request.from.slug}.`
      useUi.getState().showToast({ kind: 'failed', text, request_id: null, of: from.id })
    }
  })
}

/** Keys of locks that this page holds or waits for. */
const resumingKeys = new Set<string>()

/** Shows promotions that a closed page left unfinished, to resume or undo them. Those of another open page appear once it is closed. */
export async function resumePromotions(): Promise<void> {
  for (const { key } of readStoredPromotions()) if (!resumingKeys.has(key)) void resumePromotion(key)
}

async function resumePromotion(key: string): Promise<void> {
  resumingKeys.add(key)
  const release = await acquirePromotionLock(key, { ifAvailable: false })
  resumingKeys.delete(key)
  const stored = readStoredPromotions().find((one) => one.key === key)
  const { connections } = useConnection.getState()
  const [from, to] = [stored?.from, stored?.to].map((finish) => connections.find(({ id }) => id === finish?.id))
  const isRunning = usePromotions.getState().promotions.some((one) => one.key === key)
  if (!release || isRunning || !stored || !from || !to) return release?.()
  const { variables, ...rest } = stored.request
  const request: PromotionRequest = {
    ...rest,
    variables: new Set(variables),
    from: { client: toPromotionClient(from.client), slug: stored.from.slug },
    to: { client: toPromotionClient(to.client), slug: stored.to.slug },
  }
  createPromotion({ from, to, request, release, stored, notCopied: stored.not_copied ?? [] })
}

function createPromotion({
  from,
  to,
  request,
  release,
  stored,
  notCopied,
}: {
  from: InstanceConnection
  to: InstanceConnection
  request: PromotionRequest
  release: () => void
  stored?: StoredPromotion
  /** Known before the first step. */
  notCopied: PromotionReportLine[]
}): Promotion {
  const { put, remove } = usePromotions.getState()
  const key = promotionKey(from.id, request.from.slug)
  const done: PromotionProgress = stored?.done ?? {}
  // The closed page held the source in memory.
  const wasDone = (name: string) => name !== 'source' && stored?.steps_done.some((one) => one === name)
  let controller = new AbortController()
  let promotion: Promotion = {
    key,
    from: { id: from.id, name: from.name, slug: request.from.slug },
    to: { id: to.id, name: to.name, slug: request.to.slug },
    state: stored ? 'cut' : 'running',
    is_given_up: stored?.is_given_up ?? false,
    steps: promotionStepNames(request).map((name) => ({ name, state: wasDone(name) ? 'done' : 'waiting', note: '' })),
    transfer: null,
    problem: null,
    deployment_id: null,
    report: [],
    cancel: () => (promotion.state === 'running' ? controller.abort() : void rollBack()),
    retry: () => void (promotion.is_given_up ? rollBack() : run()),
  }
  const update = (change: Partial<Promotion>) => {
    promotion = { ...promotion, ...change }
    put(promotion)
  }
  const persist = () => {
    const { from: _from, to: _to, variables, ...rest } = request
    const { archive: _archive, ...progress } = done
    const steps_done = promotion.steps.filter(({ state }) => state === 'done').map(({ name }) => name)
    const sides = { from: { id: from.id, slug: request.from.slug }, to: { id: to.id, slug: request.to.slug } }
    const stored_request = { ...rest, variables: [...variables] }
    storePromotion({
      key,
      ...sides,
      request: stored_request,
      done: progress,
      steps_done,
      is_given_up: promotion.is_given_up,
      not_copied: notCopied,
    })
  }
  const finish = () => {
    removeStoredPromotion(key)
    release()
  }
  const updateStep = (index: number, change: Partial<Promotion['steps'][number]>) => {
    update({ steps: promotion.steps.map((step, at) => (at === index ? { ...step, ...change } : step)) })
    persist()
  }

  const run = async () => {
    controller = new AbortController()
    update({ state: 'running', problem: null })
    let started: Deployment | undefined
    try {
      for (const [index, { name, state }] of promotion.steps.entries()) {
        if (state === 'done') continue
        updateStep(index, { state: 'running' })
        const estimateRate = createRateEstimator()
        const onProgress = (sent: number, total: number | null) => {
          if (controller.signal.aborted) return
          update({ transfer: { name: request.from.slug, sent, total: total ?? 0, ...estimateRate(sent, total ?? Infinity, performance.now()) } })
          void window.homeport?.setProgress(total ? Math.min(1, sent / total) : null)
        }
        const { note, deployment, project } = await promotionSteps[name](request, done, {
          signal: controller.signal,
          onProgress,
          persist,
          pause: (ms) => pause(ms, controller.signal),
          createKey: createIdempotencyKey,
        })
        update({ transfer: null })
        updateStep(index, { state: 'done', note })
        if (project) upsertProject(to.cache, project)
        if (deployment) upsertDeployment(to.cache, (started = deployment))
        // The source is sent now, so a later cancelation has no upload to stop.
        if (!started || index + 1 < promotion.steps.length) controller.signal.throwIfAborted()
      }
      if (done.deployment_id !== undefined) complete(done.deployment_id)
    } catch (error) {
      const failed = promotion.steps.findIndex(({ state }) => state === 'running')
      update({ transfer: null })
      if (controller.signal.aborted) return await rollBack()
      updateStep(failed, { state: 'failed' })
      update({ state: 'failed', problem: toApiError(error) })
    } finally {
      void window.homeport?.setProgress(null)
    }
  }

  const complete = (id: string) => {
    delete done.archive
    finish()
    // The report of a step replaces the expected one.
    const report = (done.report ?? []).reduce(putReportLine, notCopied)
    update({ state: 'done', deployment_id: id, report })
    const projectPath = `${instanceBasePath(from.id)}/projects/${request.from.slug}`
    // A user who has opened another page stays there.
    if (location.pathname !== projectPath && !location.pathname.startsWith(`${projectPath}/`)) return
    if (report.length === 0) remove(key)
    navigate(`${instanceBasePath(to.id)}/projects/${request.to.slug}/deployments/${encodeURIComponent(id)}`)
  }

  const rollBack = async () => {
    if (promotion.state === 'undoing') return
    update({ state: 'undoing', is_given_up: true, problem: null })
    persist()
    try {
      await undoPromotion(request, done)
      if (done.is_made) removeProject(to.cache, request.to.slug)
      finish()
      remove(key)
      useUi.getState().showToast({ kind: 'done', text: `Canceled. ${to.name} was not changed.`, request_id: null, of: from.id })
    } catch (error) {
      update({ state: 'failed', problem: toApiError(error) })
    }
  }

  put(promotion)
  return promotion
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true })
  })
