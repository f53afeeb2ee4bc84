import { navigate } from 'wouter/use-browser-location'
import { putDeployment, putProject, removeProject } from '../../api/cache.ts'
import { problemFrom } from '../../api/problem.ts'
import { createPace } from '../../api/use-upload.ts'
import { baseOf } from '../../stores/address.ts'
import type { Connection } from '../../stores/connection.ts'
import { type Promotion, promotionKey, usePromotions } from '../../stores/promotions.ts'
import { useUi } from '../../stores/ui.ts'
import { type Done, type Wish, steps, stepsOf, takeBack } from './steps.ts'

/** Goes from step to step, over all that somebody looks at meanwhile; a failure waits for another try, or for being taken back. */
export function promote(from: Connection, to: Connection, wish: Wish): void {
  const { put, drop, promotions } = usePromotions.getState()
  const key = promotionKey(from.id, wish.from.slug)
  if (promotions.some((one) => one.key === key && one.state !== 'done')) return
  const done: Done = { created: [] }
  let stopped = new AbortController()
  let isGivenUp = false
  let now: Promotion = {
    key,
    from: { id: from.id, name: from.name, slug: wish.from.slug },
    to: { id: to.id, name: to.name, slug: wish.to.slug },
    state: 'running',
    steps: stepsOf(wish).map((name) => ({ name, state: 'waiting', note: '' })),
    transfer: null,
    problem: null,
    deployment_id: null,
    cancel: () => (now.state === 'running' ? stopped.abort() : void undo()),
    retry: () => void (isGivenUp ? undo() : run()),
  }
  const show = (change: Partial<Promotion>) => {
    now = { ...now, ...change }
    put(now)
  }
  const mark = (index: number, change: Partial<Promotion['steps'][number]>) =>
    show({ steps: now.steps.map((step, at) => (at === index ? { ...step, ...change } : step)) })

  const run = async () => {
    stopped = new AbortController()
    show({ state: 'running', problem: null })
    window.addEventListener('beforeunload', askFirst)
    try {
      for (const [index, { name, state }] of now.steps.entries()) {
        if (state === 'done') continue
        mark(index, { state: 'running' })
        const pace = createPace()
        const onProgress = (sent: number, total: number | null) => {
          if (stopped.signal.aborted) return
          show({ transfer: { name: wish.from.slug, sent, total: total ?? 0, ...pace(sent, total ?? Infinity, performance.now()) } })
          void window.homeport?.setProgress(total ? Math.min(1, sent / total) : null)
        }
        const { note, deployment, project } = await steps[name](wish, done, { signal: stopped.signal, onProgress })
        show({ transfer: null })
        mark(index, { state: 'done', note })
        if (project) putProject(to.cache, project)
        if (deployment) arrive(deployment.id, () => putDeployment(to.cache, deployment))
        else stopped.signal.throwIfAborted()
      }
    } catch (error) {
      const failed = now.steps.findIndex(({ state }) => state === 'running')
      show({ transfer: null })
      if (stopped.signal.aborted) return await undo()
      mark(failed, { state: 'failed' })
      show({ state: 'failed', problem: problemFrom(error) })
    } finally {
      window.removeEventListener('beforeunload', askFirst)
      void window.homeport?.setProgress(null)
    }
  }

  const arrive = (id: string, tell: () => void) => {
    tell()
    delete done.archive
    show({ state: 'done', deployment_id: id })
    const root = `${baseOf(from.id)}/projects/${wish.from.slug}`
    // Who went elsewhere meanwhile is not carried away from there.
    if (location.pathname !== root && !location.pathname.startsWith(`${root}/`)) return
    drop(key)
    navigate(`${baseOf(to.id)}/projects/${wish.to.slug}/deployments/${encodeURIComponent(id)}`)
  }

  const undo = async () => {
    if (now.state === 'undoing') return
    isGivenUp = true
    show({ state: 'undoing', problem: null })
    try {
      await takeBack(wish, done)
      if (done.is_made) removeProject(to.cache, wish.to.slug)
      drop(key)
      useUi.getState().showToast({ kind: 'done', text: `Canceled. ${to.name} is as it was before.`, request_id: null, of: from.id })
    } catch (error) {
      show({ state: 'failed', problem: problemFrom(error) })
    }
  }

  void run()
}

/** The browser asks whether to leave the page: what is under way would be lost. */
function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
