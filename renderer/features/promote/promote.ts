import { navigate } from 'wouter/use-browser-location'
import { putDeployment, putProject, removeProject } from '../../api/cache.ts'
import { problemFrom } from '../../api/problem.ts'
import { createPace } from '../../api/use-upload.ts'
import { baseOf } from '../../stores/address.ts'
import { type Connection, useConnection } from '../../stores/connection.ts'
import { type Promotion, promotionKey, usePromotions } from '../../stores/promotions.ts'
import { useUi } from '../../stores/ui.ts'
import { forget, hold, keep, type Kept, keptNow } from './kept.ts'
import { type Done, type Wish, steps, stepsOf, takeBack } from './steps.ts'

/** Goes from step to step, over all that somebody looks at meanwhile; a failure waits for another try, or for being taken back. */
export function promote(from: Connection, to: Connection, wish: Wish): void {
  const key = promotionKey(from.id, wish.from.slug)
  if (usePromotions.getState().promotions.some((one) => one.key === key && one.state !== 'done')) return
  void hold(key, { ifFree: true }).then((release) => {
    if (release) start({ from, to, wish, release }).retry()
    else {
      const text = `Another window of the dashboard brings ${wish.from.slug} elsewhere already.`
      useUi.getState().showToast({ kind: 'failed', text, request_id: null, of: from.id })
    }
  })
}

/** Keys of what this page waits for, or has. */
const taken = new Set<string>()

/** What a page that was closed left half-done is shown, to go on with or to take back; what another page has, once that is closed. */
export async function takeUp(): Promise<void> {
  for (const { key } of keptNow()) if (!taken.has(key)) void takeUpOne(key)
}

async function takeUpOne(key: string): Promise<void> {
  taken.add(key)
  const release = await hold(key, { ifFree: false })
  taken.delete(key)
  const kept = keptNow().find((one) => one.key === key)
  const { connections } = useConnection.getState()
  const [from, to] = [kept?.from, kept?.to].map((end) => connections.find(({ id }) => id === end?.id))
  const isHere = usePromotions.getState().promotions.some((one) => one.key === key)
  if (!release || isHere || !kept || !from || !to) return release?.()
  const { variables, ...rest } = kept.wish
  const wish: Wish = {
    ...rest,
    variables: new Set(variables),
    from: { client: from.client, slug: kept.from.slug },
    to: { client: to.client, slug: kept.to.slug },
  }
  start({ from, to, wish, release, kept })
}

function start({ from, to, wish, release, kept }: { from: Connection; to: Connection; wish: Wish; release: () => void; kept?: Kept }): Promotion {
  const { put, drop } = usePromotions.getState()
  const key = promotionKey(from.id, wish.from.slug)
  const done: Done = kept?.done ?? {}
  // The source was in the page that is gone.
  const was = (name: string) => name !== 'source' && kept?.steps_done.some((one) => one === name)
  let stopped = new AbortController()
  let now: Promotion = {
    key,
    from: { id: from.id, name: from.name, slug: wish.from.slug },
    to: { id: to.id, name: to.name, slug: wish.to.slug },
    state: kept ? 'cut' : 'running',
    is_given_up: kept?.is_given_up ?? false,
    steps: stepsOf(wish).map((name) => ({ name, state: was(name) ? 'done' : 'waiting', note: '' })),
    transfer: null,
    problem: null,
    deployment_id: null,
    cancel: () => (now.state === 'running' ? stopped.abort() : void undo()),
    retry: () => void (now.is_given_up ? undo() : run()),
  }
  const show = (change: Partial<Promotion>) => {
    now = { ...now, ...change }
    put(now)
  }
  const write = () => {
    const { from: _from, to: _to, variables, ...rest } = wish
    const { archive: _archive, ...left } = done
    const steps_done = now.steps.filter(({ state }) => state === 'done').map(({ name }) => name)
    const ends = { from: { id: from.id, slug: wish.from.slug }, to: { id: to.id, slug: wish.to.slug } }
    keep({ key, ...ends, wish: { ...rest, variables: [...variables] }, done: left, steps_done, is_given_up: now.is_given_up })
  }
  const end = () => {
    forget(key)
    release()
  }
  const mark = (index: number, change: Partial<Promotion['steps'][number]>) => {
    show({ steps: now.steps.map((step, at) => (at === index ? { ...step, ...change } : step)) })
    write()
  }

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
        const { note, deployment, project } = await steps[name](wish, done, { signal: stopped.signal, onProgress, keep: write })
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
    end()
    show({ state: 'done', deployment_id: id })
    const root = `${baseOf(from.id)}/projects/${wish.from.slug}`
    // Who went elsewhere meanwhile is not carried away from there.
    if (location.pathname !== root && !location.pathname.startsWith(`${root}/`)) return
    drop(key)
    navigate(`${baseOf(to.id)}/projects/${wish.to.slug}/deployments/${encodeURIComponent(id)}`)
  }

  const undo = async () => {
    if (now.state === 'undoing') return
    show({ state: 'undoing', is_given_up: true, problem: null })
    write()
    try {
      await takeBack(wish, done)
      if (done.is_made) removeProject(to.cache, wish.to.slug)
      end()
      drop(key)
      useUi.getState().showToast({ kind: 'done', text: `Canceled. ${to.name} is as it was before.`, request_id: null, of: from.id })
    } catch (error) {
      show({ state: 'failed', problem: problemFrom(error) })
    }
  }

  put(now)
  return now
}

/** The browser asks whether to leave the page: what is under way would wait half-done. */
function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
