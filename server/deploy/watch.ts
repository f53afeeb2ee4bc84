import { setImmediate as breathe } from 'node:timers/promises'
import { Problem } from '../contract/errors.ts'
import { isoTime, type Timer } from '../lib/clock.ts'
import type { BranchesRequest, RepositoryEvents } from '../source/index.ts'
import { SourceFailure } from '../source/source.ts'
import { forgetBranch, listOpenPreviews, noteBranch, readBranches, readWatch, updateWatch } from '../store/previews.ts'
import { findProject, listConnected } from '../store/projects.ts'
import type { ProjectRow, WatchRow } from '../store/tables.ts'
import type { Engine } from './engine.ts'
import { readCredentials } from './variables.ts'
import type { YardOptions } from './yard.ts'

/** Looks after the repositories: what is pushed is deployed, what is deleted is closed. */
export interface Watcher {
  /** Takes in all that are linked, by and by. */
  start(): void
  /** Looks at a repository now; resolves when the look is over and what it found is queued. */
  check(projectId: string): Promise<void>
  /** What a project wants of its repository has changed: resolves when what is no longer wanted is closed. */
  follow(projectId: string): Promise<void>
  /** The machine slept, or has a network again: nothing waits for its turn. */
  resync(): void
  close(): Promise<void>
}

export interface WatcherOptions extends Pick<YardOptions, 'store' | 'bus' | 'clock' | 'log' | 'sealer'> {
  engine: Pick<Engine, 'push' | 'closePreview'>
  listBranches(request: BranchesRequest, signal: AbortSignal): Promise<Map<string, string>>
  followRepository(url: string, changed: () => void): RepositoryEvents
}

/** Between two looks at a repository elsewhere; also at one of this machine, which tells us when something changes. */
const every_ms = 60_000
/** One that cannot be reached is asked ever more seldom. */
const longest_ms = 15 * 60_000
/** What git does at once (a rebase, a fetch of many branches) is looked at once. */
const settle_ms = 60
/** Looks at once, and those that begin in one second when nobody waits for them: thousands of repositories must not stampede. */
const hands = 4
const perSecond = 2
/** Of more repositories on this machine the rest is looked at in its turn alone. */
const mostFollowed = 300

interface Watched {
  project_id: string
  url: string
  repo_branch: string
  updated_at: string
  events: RepositoryEvents | undefined
  /** When it is looked at next, by the monotonic clock. */
  due: number
  failures: number
  settling: Timer | undefined
  looking: Promise<void> | undefined
  /** Something changed while it was being looked at. */
  isStale: boolean
}

export function createWatcher(options: WatcherOptions): Watcher {
  const { store, bus, clock, log, engine } = options
  const { db } = store
  const ended = new AbortController()
  const watched = new Map<string, Watched>()
  const changed = new Set<string>()
  /** Deployments whose next word is waited for. */
  const awaited = new Set<string>()
  let following: Promise<void> | undefined
  let busy = 0
  const queue: (() => void)[] = []
  let second = 0
  let begun = 0

  const factsOf = (projectId: string) =>
    db.read((tx) => {
      const project = findProject(tx, projectId)
      return project && { project, watch: readWatch(tx, projectId) }
    })

  /** Takes a project in, or lets go of it; resolves when what it does not want any more is closed. */
  const follow = async (projectId: string): Promise<void> => {
    const facts = await factsOf(projectId)
    const url = facts && wantedUrl(facts)
    const entry = watched.get(projectId)
    if (entry && entry.url !== url) drop(entry)
    if (facts) await letGo(facts)
    if (!facts || url === undefined || ended.signal.aborted) return
    const { repo_branch, updated_at } = facts.project
    const before = watched.get(projectId)
    if (before) {
      // Another production branch is looked at now; and what fails may have been mended by whoever changed the project.
      if (before.repo_branch !== repo_branch || (before.failures > 0 && before.updated_at !== updated_at)) before.due = clock.monotonic()
      Object.assign(before, { repo_branch, updated_at })
      return
    }
    watched.set(projectId, {
      project_id: projectId,
      url,
      repo_branch,
      updated_at,
      events: undefined,
      due: clock.monotonic(),
      failures: 0,
      settling: undefined,
      looking: undefined,
      isStale: false,
    })
  }

  const drop = (entry: Watched): void => {
    entry.settling?.cancel()
    entry.events?.close()
    watched.delete(entry.project_id)
  }

  /** What is switched off is closed; what is linked or switched on again is looked at as if for the first time. */
  const letGo = async ({ project, watch }: Facts): Promise<void> => {
    const isUnwatched = project.repo_url === null || (watch.deploys_pushes === 0 && watch.previews === 0)
    if (isUnwatched && watch.repo_url !== null) await db.write((tx) => updateWatch(tx, project.id, { repo_url: null, message: null }))
    if (!isUnwatched && watch.previews === 1) return
    for (const { branch } of await db.read((tx) => listOpenPreviews(tx, project.id))) await engine.closePreview(project.id, branch)
  }

  /** One look at a time at each; one that is asked for meanwhile comes after it. */
  const look = (entry: Watched): Promise<void> => {
    entry.settling?.cancel()
    entry.settling = undefined
    if (entry.looking) {
      entry.isStale = true
      return entry.looking
    }
    entry.isStale = false
    let began = clock.monotonic()
    entry.looking = inTurn(() => {
      began = clock.monotonic()
      return lookOnce(entry)
    })
      .catch((error: unknown) => {
        if (!ended.signal.aborted) log.error('repository_not_looked_at', { project: entry.project_id, error })
      })
      .then(() => {
        entry.looking = undefined
        const jitter = 0.9 + Math.random() / 5
        // From its beginning: what it found is told before this line is reached.
        entry.due = began + Math.min(every_ms * 2 ** entry.failures, longest_ms) * jitter
        return entry.isStale && watched.get(entry.project_id) === entry ? look(entry) : undefined
      })
    return entry.looking
  }

  const inTurn = async (work: () => Promise<void>): Promise<void> => {
    if (busy >= hands) await new Promise<void>((resolve) => queue.push(resolve))
    busy++
    try {
      if (!ended.signal.aborted) await work()
    } finally {
      busy--
      queue.shift()?.()
    }
  }

  const lookOnce = async (entry: Watched): Promise<void> => {
    const facts = await factsOf(entry.project_id)
    if (!facts || wantedUrl(facts) !== entry.url || watched.get(entry.project_id) !== entry) return
    listen(entry)
    // Before the look: what changes after it is heard.
    await entry.events?.renew()
    try {
      const heads = await options.listBranches(
        { url: entry.url, credentials: readCredentials(options, facts.project), allow_local: facts.project.repo_is_trusted === 1 },
        ended.signal,
      )
      await reconcile(facts, entry, heads)
      entry.failures = 0
    } catch (error) {
      if (ended.signal.aborted) return
      entry.failures++
      return fail(entry, facts.watch, error)
    }
  }

  const listen = (entry: Watched): void => {
    if (entry.events || !entry.url.startsWith('file:')) return
    if ([...watched.values()].filter((one) => one.events).length >= mostFollowed) return
    entry.events = options.followRepository(entry.url, () => {
      if (watched.get(entry.project_id) !== entry) return
      entry.settling?.cancel()
      entry.settling = clock.setTimeout(() => void look(entry), settle_ms)
    })
  }

  /** What is known stays as it is: a look that failed closes nothing. */
  const fail = async (entry: Watched, before: WatchRow, error: unknown): Promise<void> => {
    const isRefused = error instanceof Problem && error.code === 'runtime_not_isolated'
    if (!(error instanceof SourceFailure) && !isRefused) log.error('repository_not_looked_at', { project: entry.project_id, error })
    const message =
      error instanceof SourceFailure
        ? `${error.message} ${error.hint}`
        : isRefused
          ? error.message
          : 'The repository could not be looked at for a reason of Homeport’s own.'
    await db.write((tx) => {
      if (findProject(tx, entry.project_id)?.repo_url === entry.url) updateWatch(tx, entry.project_id, { message, checked_at: isoTime(clock.now()) })
    })
    if (before.message !== message) bus.emit(`project:${entry.project_id}`)
  }

  const reconcile = async ({ project, watch }: Facts, entry: Watched, heads: Map<string, string>): Promise<void> => {
    const id = project.id
    const isFirst = watch.repo_url !== entry.url
    const { known, previews } = await db.read((tx) => ({ known: readBranches(tx, id), previews: listOpenPreviews(tx, id) }))
    for (const { branch } of previews) {
      const isWanted = !isFirst && watch.previews === 1 && heads.has(branch) && branch !== project.repo_branch
      if (!isWanted) await engine.closePreview(id, branch)
    }
    const changes = isFirst ? [] : [...heads].filter(([branch, sha]) => known.get(branch) !== sha)
    const noted: [string, string][] = isFirst ? [...heads] : []
    // Production first: it is what others see.
    for (const [branch, commit_sha] of changes.toSorted(([a], [b]) => Number(b === project.repo_branch) - Number(a === project.repo_branch))) {
      const reception = await engine.push({ project_id: id, url: entry.url, branch, commit_sha })
      if (reception.kind === 'moved') return
      if (reception.kind === 'wait') lookAgainAfter(entry, reception.deployment_id)
      else noted.push([branch, commit_sha])
    }
    const isNews = await db.write((tx) => {
      if (findProject(tx, id)?.repo_url !== entry.url) return false
      if (isFirst) forgetBranch(tx, id)
      else for (const branch of known.keys()) if (!heads.has(branch)) forgetBranch(tx, id, branch)
      for (const [branch, sha] of noted) noteBranch(tx, id, branch, sha)
      updateWatch(tx, id, { repo_url: entry.url, message: null, checked_at: isoTime(clock.now()) })
      return isFirst || watch.message !== null
    })
    if (isNews) bus.emit(`project:${id}`)
  }

  /** A deployment by hand may be of that very commit; it says so once it has fetched it, or ends without. */
  const lookAgainAfter = (entry: Watched, deploymentId: string): void => {
    if (awaited.has(deploymentId)) return
    awaited.add(deploymentId)
    const off = bus.on(`deployment:${deploymentId}`, () => {
      off()
      awaited.delete(deploymentId)
      if (watched.get(entry.project_id) === entry) void look(entry)
    })
  }

  const tick = (): void => {
    const now = clock.monotonic()
    if (now - second >= 1_000) {
      second = now
      begun = 0
    }
    const due = [...watched.values()].filter((entry) => entry.due <= now && !entry.looking && !entry.settling)
    for (const entry of due.toSorted((a, b) => a.due - b.due).slice(0, perSecond - begun)) {
      begun++
      void look(entry)
    }
  }

  /** One after the other, and never in the way of others: at the start there may be thousands. */
  const followSoon = (ids: Iterable<string>): void => {
    for (const id of ids) changed.add(id)
    following ??= (async () => {
      await breathe()
      for (const id of changed) {
        if (ended.signal.aborted) return
        changed.delete(id)
        await follow(id).catch((error: unknown) => log.error('repository_not_followed', { project: id, error }))
        await breathe()
      }
      tick()
    })().finally(() => (following = undefined))
  }
  const offBus = bus.onAny((name) => {
    if (name.startsWith('project:') && !ended.signal.aborted) followSoon([name.slice('project:'.length)])
  })

  const timer = clock.setInterval(tick, 1_000).unref()
  return {
    async check(projectId) {
      await follow(projectId)
      const entry = watched.get(projectId)
      if (entry) await look(entry)
    },
    follow,
    start() {
      void db
        .read(listConnected)
        .then(followSoon)
        .catch((error: unknown) => log.error('repositories_not_followed', { error }))
    },
    resync() {
      for (const entry of watched.values()) {
        entry.failures = 0
        entry.due = clock.monotonic() + Math.random() * 5_000
      }
    },
    async close() {
      ended.abort()
      offBus()
      timer.cancel()
      const looks = [...watched.values()].map((entry) => entry.looking)
      for (const entry of watched.values()) drop(entry)
      for (const next of queue.splice(0)) next()
      await Promise.allSettled([...looks, following])
    },
  }
}

interface Facts {
  project: ProjectRow
  watch: WatchRow
}

/** The address that is to be watched. A project that was stopped is left alone until somebody deploys it. */
function wantedUrl({ project, watch }: Facts): string | undefined {
  const isOff = project.stopped_at !== null || (watch.deploys_pushes === 0 && watch.previews === 0)
  return isOff ? undefined : (project.repo_url ?? undefined)
}
