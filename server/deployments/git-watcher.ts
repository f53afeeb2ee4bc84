import { setImmediate as nextTurn } from 'node:timers/promises'
import { Problem } from '../contract/errors.ts'
import { isoTime, type Timer } from '../lib/clock.ts'
import type { ListBranchesRequest, RepositoryWatcher } from '../source/index.ts'
import { SourceError } from '../source/source.ts'
import { deleteBranchHeads, listOpenPreviews, upsertBranchHead, readBranchHeads, findWatch, updateWatch } from '../store/previews.ts'
import { findProject, listConnectedProjectIds } from '../store/projects.ts'
import type { ProjectRow, WatchRow } from '../store/tables.ts'
import type { DeploymentService } from './service.ts'
import { readCredentials } from './variables.ts'
import type { DeploymentServiceOptions } from './context.ts'

/** Looks after the repositories: what is pushed is deployed, what is deleted is closed. */
export interface GitWatcher {
  /** Takes in all that are linked, by and by. */
  start(): void
  /** Looks at a repository now; resolves when the look is over and what it found is queued. */
  check(projectId: string): Promise<void>
  /** What a project wants of its repository has changed: resolves when what is no longer wanted is closed. */
  syncProject(projectId: string): Promise<void>
  /** The machine slept, or has a network again: nothing waits for its turn. */
  resync(): void
  close(): Promise<void>
}

export interface GitWatcherOptions extends Pick<DeploymentServiceOptions, 'store' | 'events' | 'clock' | 'log' | 'sealer'> {
  deployments: Pick<DeploymentService, 'handlePush' | 'closePreview'>
  listBranches(request: ListBranchesRequest, signal: AbortSignal): Promise<Map<string, string>>
  followRepository(url: string, onChange: () => void): RepositoryWatcher
}

/** Between two looks at a repository elsewhere; also at one of this machine, which tells us when something changes. */
const pollInterval_ms = 60_000
/** One that cannot be reached is asked ever more seldom. */
const maxPollInterval_ms = 15 * 60_000
/** What git does at once (a rebase, a fetch of many branches) is looked at once. */
const debounce_ms = 60
/** Looks at once, and those that begin in one second when nobody waits for them: thousands of repositories must not stampede. */
const maxConcurrentChecks = 4
const maxStartsPerSecond = 2
/** Of more repositories on this machine the rest is looked at in its turn alone. */
const maxLocalWatches = 300

interface WatchedRepository {
  project_id: string
  url: string
  repo_branch: string
  updated_at: string
  events: RepositoryWatcher | undefined
  /** When it is looked at next, by the monotonic clock. */
  nextCheckAt: number
  failures: number
  debounceTimer: Timer | undefined
  checking: Promise<void> | undefined
  /** Something changed while it was being looked at. */
  isStale: boolean
}

export function createGitWatcher(options: GitWatcherOptions): GitWatcher {
  const { store, events, clock, log, deployments } = options
  const { db } = store
  const closing = new AbortController()
  const repositories = new Map<string, WatchedRepository>()
  const changedProjects = new Set<string>()
  /** Deployments whose next word is waited for. */
  const awaitedDeployments = new Set<string>()
  let syncing: Promise<void> | undefined
  let runningChecks = 0
  const waiting: (() => void)[] = []
  let currentSecond = 0
  let startedThisSecond = 0

  const readFacts = (projectId: string) =>
    db.read((tx) => {
      const project = findProject(tx, projectId)
      return project && { project, watch: findWatch(tx, projectId) }
    })

  /** Takes a project in, or lets go of it; resolves when what it does not want any more is closed. */
  const syncProject = async (projectId: string): Promise<void> => {
    const facts = await readFacts(projectId)
    const url = facts && getWatchedUrl(facts)
    const entry = repositories.get(projectId)
    if (entry && entry.url !== url) stopWatching(entry)
    if (facts) await closeUnwanted(facts)
    if (!facts || url === undefined || closing.signal.aborted) return
    const { repo_branch, updated_at } = facts.project
    const before = repositories.get(projectId)
    if (before) {
      // Another production branch is looked at now; and what fails may have been mended by whoever changed the project.
      if (before.repo_branch !== repo_branch || (before.failures > 0 && before.updated_at !== updated_at)) before.nextCheckAt = clock.monotonic()
      Object.assign(before, { repo_branch, updated_at })
      return
    }
    repositories.set(projectId, {
      project_id: projectId,
      url,
      repo_branch,
      updated_at,
      events: undefined,
      nextCheckAt: clock.monotonic(),
      failures: 0,
      debounceTimer: undefined,
      checking: undefined,
      isStale: false,
    })
  }

  const stopWatching = (entry: WatchedRepository): void => {
    entry.debounceTimer?.cancel()
    entry.events?.close()
    repositories.delete(entry.project_id)
  }

  /** What is switched off is closed; what is linked or switched on again is looked at as if for the first time. */
  const closeUnwanted = async ({ project, watch }: WatchFacts): Promise<void> => {
    const isUnwatched = project.repo_url === null || (watch.deploys_pushes === 0 && watch.previews === 0)
    if (isUnwatched && watch.repo_url !== null) await db.write((tx) => updateWatch(tx, project.id, { repo_url: null, message: null }))
    if (!isUnwatched && watch.previews === 1) return
    for (const { branch } of await db.read((tx) => listOpenPreviews(tx, project.id))) await deployments.closePreview(project.id, branch)
  }

  /** One look at a time at each; one that is asked for meanwhile comes after it. */
  const checkRepository = (entry: WatchedRepository): Promise<void> => {
    entry.debounceTimer?.cancel()
    entry.debounceTimer = undefined
    if (entry.checking) {
      entry.isStale = true
      return entry.checking
    }
    entry.isStale = false
    let startedAt = clock.monotonic()
    entry.checking = withCheckSlot(() => {
      startedAt = clock.monotonic()
      return pollRepository(entry)
    })
      .catch((error: unknown) => {
        if (!closing.signal.aborted) log.error('repository_not_looked_at', { project: entry.project_id, error })
      })
      .then(() => {
        entry.checking = undefined
        const jitter = 0.9 + Math.random() / 5
        // From its beginning: what it found is told before this line is reached.
        entry.nextCheckAt = startedAt + Math.min(pollInterval_ms * 2 ** entry.failures, maxPollInterval_ms) * jitter
        return entry.isStale && repositories.get(entry.project_id) === entry ? checkRepository(entry) : undefined
      })
    return entry.checking
  }

  const withCheckSlot = async (work: () => Promise<void>): Promise<void> => {
    if (runningChecks >= maxConcurrentChecks) await new Promise<void>((resolve) => waiting.push(resolve))
    runningChecks++
    try {
      if (!closing.signal.aborted) await work()
    } finally {
      runningChecks--
      waiting.shift()?.()
    }
  }

  const pollRepository = async (entry: WatchedRepository): Promise<void> => {
    const facts = await readFacts(entry.project_id)
    if (!facts || getWatchedUrl(facts) !== entry.url || repositories.get(entry.project_id) !== entry) return
    watchForChanges(entry)
    // Before the look: what changes after it is heard.
    await entry.events?.refresh()
    try {
      const heads = await options.listBranches(
        { url: entry.url, credentials: readCredentials(options, facts.project), allow_local: facts.project.repo_is_trusted === 1 },
        closing.signal,
      )
      await reconcile(facts, entry, heads)
      entry.failures = 0
    } catch (error) {
      if (closing.signal.aborted) return
      entry.failures++
      return recordFailure(entry, facts.watch, error)
    }
  }

  const watchForChanges = (entry: WatchedRepository): void => {
    if (entry.events || !entry.url.startsWith('file:')) return
    if ([...repositories.values()].filter((one) => one.events).length >= maxLocalWatches) return
    entry.events = options.followRepository(entry.url, () => {
      if (repositories.get(entry.project_id) !== entry) return
      entry.debounceTimer?.cancel()
      entry.debounceTimer = clock.setTimeout(() => void checkRepository(entry), debounce_ms)
    })
  }

  /** What is known stays as it is: a look that failed closes nothing. */
  const recordFailure = async (entry: WatchedRepository, before: WatchRow, error: unknown): Promise<void> => {
    const isNotIsolated = error instanceof Problem && error.code === 'runtime_not_isolated'
    if (!(error instanceof SourceError) && !isNotIsolated) log.error('repository_not_looked_at', { project: entry.project_id, error })
    const message =
      error instanceof SourceError
        ? `${error.message} ${error.hint}`
        : isNotIsolated
          ? error.message
          : 'The repository could not be looked at for a reason of Homeport’s own.'
    await db.write((tx) => {
      if (findProject(tx, entry.project_id)?.repo_url === entry.url) updateWatch(tx, entry.project_id, { message, checked_at: isoTime(clock.now()) })
      if (before.message !== message) tx.publish({ type: 'project_changed', id: entry.project_id })
    })
  }

  const reconcile = async ({ project, watch }: WatchFacts, entry: WatchedRepository, heads: Map<string, string>): Promise<void> => {
    const id = project.id
    const isFirst = watch.repo_url !== entry.url
    const { known, previews } = await db.read((tx) => ({ known: readBranchHeads(tx, id), previews: listOpenPreviews(tx, id) }))
    for (const { branch } of previews) {
      const isWanted = !isFirst && watch.previews === 1 && heads.has(branch) && branch !== project.repo_branch
      if (!isWanted) await deployments.closePreview(id, branch)
    }
    const changes = isFirst ? [] : [...heads].filter(([branch, sha]) => known.get(branch) !== sha)
    const recorded: [string, string][] = isFirst ? [...heads] : []
    // Production first: it is what others see.
    for (const [branch, commit_sha] of changes.toSorted(([a], [b]) => Number(b === project.repo_branch) - Number(a === project.repo_branch))) {
      const decision = await deployments.handlePush({ project_id: id, url: entry.url, branch, commit_sha })
      if (decision.kind === 'moved') return
      if (decision.kind === 'wait') checkAgainAfter(entry, decision.deployment_id)
      else recorded.push([branch, commit_sha])
    }
    await db.write((tx) => {
      if (findProject(tx, id)?.repo_url !== entry.url) return
      if (isFirst) deleteBranchHeads(tx, id)
      else for (const branch of known.keys()) if (!heads.has(branch)) deleteBranchHeads(tx, id, branch)
      for (const [branch, sha] of recorded) upsertBranchHead(tx, id, branch, sha)
      updateWatch(tx, id, { repo_url: entry.url, message: null, checked_at: isoTime(clock.now()) })
      if (isFirst || watch.message !== null) tx.publish({ type: 'project_changed', id: id })
    })
  }

  /** A deployment by hand may be of that very commit; it says so once it has fetched it, or ends without. */
  const checkAgainAfter = (entry: WatchedRepository, deploymentId: string): void => {
    if (awaitedDeployments.has(deploymentId)) return
    awaitedDeployments.add(deploymentId)
    const unsubscribe = events.subscribeTo({ type: 'deployment_changed', id: deploymentId }, () => {
      unsubscribe()
      awaitedDeployments.delete(deploymentId)
      if (repositories.get(entry.project_id) === entry) void checkRepository(entry)
    })
  }

  const tick = (): void => {
    const now = clock.monotonic()
    if (now - currentSecond >= 1_000) {
      currentSecond = now
      startedThisSecond = 0
    }
    const due = [...repositories.values()].filter((entry) => entry.nextCheckAt <= now && !entry.checking && !entry.debounceTimer)
    for (const entry of due.toSorted((a, b) => a.nextCheckAt - b.nextCheckAt).slice(0, maxStartsPerSecond - startedThisSecond)) {
      startedThisSecond++
      void checkRepository(entry)
    }
  }

  /** One after the other, and never in the way of others: at the start there may be thousands. */
  const scheduleSync = (ids: Iterable<string>): void => {
    for (const id of ids) changedProjects.add(id)
    syncing ??= (async () => {
      await nextTurn()
      for (const id of changedProjects) {
        if (closing.signal.aborted) return
        changedProjects.delete(id)
        await syncProject(id).catch((error: unknown) => log.error('repository_not_followed', { project: id, error }))
        await nextTurn()
      }
      tick()
    })().finally(() => (syncing = undefined))
  }
  const unsubscribeAll = events.subscribe((event) => {
    if (event.type === 'project_changed' && !closing.signal.aborted) scheduleSync([event.id])
  })

  const timer = clock.setInterval(tick, 1_000).unref()
  return {
    async check(projectId) {
      await syncProject(projectId)
      const entry = repositories.get(projectId)
      if (entry) await checkRepository(entry)
    },
    syncProject,
    start() {
      void db
        .read(listConnectedProjectIds)
        .then(scheduleSync)
        .catch((error: unknown) => log.error('repositories_not_followed', { error }))
    },
    resync() {
      for (const entry of repositories.values()) {
        entry.failures = 0
        entry.nextCheckAt = clock.monotonic() + Math.random() * 5_000
      }
    },
    async close() {
      closing.abort()
      unsubscribeAll()
      timer.cancel()
      const checks = [...repositories.values()].map((entry) => entry.checking)
      for (const entry of repositories.values()) stopWatching(entry)
      for (const next of waiting.splice(0)) next()
      await Promise.allSettled([...checks, syncing])
    },
  }
}

interface WatchFacts {
  project: ProjectRow
  watch: WatchRow
}

/** The address that is to be watched. A project that was stopped is left alone until somebody deploys it. */
function getWatchedUrl({ project, watch }: WatchFacts): string | undefined {
  const isOff = project.stopped_at !== null || (watch.deploys_pushes === 0 && watch.previews === 0)
  return isOff ? undefined : (project.repo_url ?? undefined)
}
