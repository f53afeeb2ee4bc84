import { setImmediate as nextTurn } from 'node:timers/promises'
import { Problem } from '../contract/errors.ts'
import { isoTime, type Timer } from '../lib/clock.ts'
import { parsePullRequestLabel } from '../lib/pull-request.ts'
import type { ListBranchesRequest, RepositoryWatcher } from '../source/index.ts'
import { SourceError } from '../source/source.ts'
import {
  deleteBranchHeads,
  findWatch,
  listOpenPreviews,
  listOutdatedSkips,
  readBranchHeads,
  updateWatch,
  upsertBranchHead,
} from '../store/previews.ts'
import { findProject, listConnectedProjectIds } from '../store/projects.ts'
import type { ProjectRow, WatchRow } from '../store/tables.ts'
import type { DeploymentService } from './service.ts'
import { checkPullRequests, findSurplusPreviews, type PullRequestSources } from './pull-requests.ts'
import { type PushFilterOptions, skipUnaffectedPush } from './skipped-pushes.ts'
import { readCredentials } from './variables.ts'
import type { DeploymentServiceOptions } from './context.ts'

/** Watches repositories: deploys pushed commits and closes previews of deleted branches. */
export interface GitWatcher {
  /** Starts to watch all linked repositories, gradually. */
  start(): void
  /** Checks a repository now; resolves when the check has ended and its deployments are queued. */
  check(projectId: string): Promise<void>
  /** Applies changed settings of a project; resolves when unwanted previews are closed. */
  syncProject(projectId: string): Promise<void>
  /** Checks all repositories now, after the machine slept or the network came back. */
  resync(): void
  close(): Promise<void>
}

export interface GitWatcherOptions extends Pick<DeploymentServiceOptions, 'events'>, PushFilterOptions, PullRequestSources {
  deployments: Pick<DeploymentService, 'handlePush' | 'closePreview'>
  listBranches(request: ListBranchesRequest, signal: AbortSignal): Promise<Map<string, string>>
  followRepository(url: string, onChange: () => void): RepositoryWatcher
}

/** Time between two checks. Local repositories are checked too, although they also send file events. */
const pollInterval_ms = 60_000
/** The longest time between checks of a repository that cannot be reached; the time doubles with each failure. */
const maxPollInterval_ms = 15 * 60_000
/** Changes by one git command (a rebase, a fetch of many branches) are checked together. */
const debounce_ms = 60
/** Limits concurrent checks, and background checks started per second, so that thousands of repositories do not start at once. */
const maxConcurrentChecks = 4
const maxStartsPerSecond = 2
/** Local repositories beyond this number are only polled. */
const maxLocalWatches = 300

interface WatchedRepository {
  project_id: string
  url: string
  repo_branch: string
  updated_at: string
  events: RepositoryWatcher | undefined
  /** Time of the next check, by the monotonic clock. */
  nextCheckAt: number
  failures: number
  debounceTimer: Timer | undefined
  checking: Promise<void> | undefined
  /** Whether the repository changed during a check. */
  isStale: boolean
}

export function createGitWatcher(options: GitWatcherOptions): GitWatcher {
  const { store, events, clock, log, deployments } = options
  const { db } = store
  const closing = new AbortController()
  const repositories = new Map<string, WatchedRepository>()
  const changedProjects = new Set<string>()
  /** Deployments whose next event triggers another check. */
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

  /** Adds, updates or removes a project; resolves when its unwanted previews are closed. */
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
      // A new production branch is checked immediately. A failing repository is checked too, because the change may have fixed it.
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

  /** Closes previews of a feature that was switched off. A repository that is linked or switched on again is checked as if it were new. */
  const closeUnwanted = async ({ project, watch }: WatchFacts): Promise<void> => {
    const isUnwatched = project.repo_url === null || isSwitchedOff(watch)
    if (isUnwatched && watch.repo_url !== null) await db.write((tx) => updateWatch(tx, project.id, { repo_url: null, message: null }))
    if (!isUnwatched && watch.previews === 1 && watch.pull_requests === 1) return
    for (const { branch } of await db.read((tx) => listOpenPreviews(tx, project.id))) {
      const isOn = parsePullRequestLabel(branch) === undefined ? watch.previews === 1 : watch.pull_requests === 1
      if (isUnwatched || !isOn) await deployments.closePreview(project.id, branch)
    }
  }

  /** Runs one check per repository at a time; a request during a check runs another one after it. */
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
        if (!closing.signal.aborted) log.error('repository_check_failed', { project: entry.project_id, error })
      })
      .then(() => {
        entry.checking = undefined
        const jitter = 0.9 + Math.random() / 5
        // Counted from the start of the check, because its results are already queued at this point.
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
    // Before the check, so that changes after it cause an event.
    await entry.events?.refresh()
    try {
      const { project } = facts
      const repository = { url: entry.url, credentials: readCredentials(options, project), allow_local: project.repo_is_trusted === 1 }
      const heads = await options.listBranches(repository, closing.signal)
      // These names are the labels of pull requests.
      for (const branch of heads.keys()) if (parsePullRequestLabel(branch) !== undefined && branch !== project.repo_branch) heads.delete(branch)
      await reconcile(facts, entry, heads, repository)
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

  /** Keeps the known state: a failed check closes nothing. */
  const recordFailure = async (entry: WatchedRepository, before: WatchRow, error: unknown): Promise<void> => {
    const isNotIsolated = error instanceof Problem && error.code === 'runtime_not_isolated'
    if (!(error instanceof SourceError) && !isNotIsolated) log.error('repository_check_failed', { project: entry.project_id, error })
    const message =
      error instanceof SourceError
        ? `${error.message} ${error.hint}`
        : isNotIsolated
          ? error.message
          : 'The repository could not be checked because of an internal error.'
    await db.write((tx) => {
      if (findProject(tx, entry.project_id)?.repo_url === entry.url) updateWatch(tx, entry.project_id, { message, checked_at: isoTime(clock.now()) })
      if (before.message !== message) tx.publish({ type: 'project_changed', id: entry.project_id })
    })
  }

  const reconcile = async (
    { project, watch }: WatchFacts,
    entry: WatchedRepository,
    heads: Map<string, string>,
    repository: ListBranchesRequest,
  ): Promise<void> => {
    const id = project.id
    const isFirst = watch.repo_url !== entry.url
    const { known, previews, outdated } = await db.read((tx) => ({
      known: readBranchHeads(tx, id),
      previews: listOpenPreviews(tx, id),
      outdated: new Set(listOutdatedSkips(tx, id).map(({ branch }) => branch)),
    }))
    const production = { branch: project.repo_branch, has_moved: known.get(project.repo_branch) !== heads.get(project.repo_branch) }
    const pulls = await checkPullRequests({ repository, watch, isFirst, production, known, previews }, options, closing.signal)
    for (const { branch } of previews) {
      const isPull = parsePullRequestLabel(branch) !== undefined
      const isWanted = !isFirst && (isPull ? pulls.open.has(branch) : watch.previews === 1 && heads.has(branch) && branch !== project.repo_branch)
      if (!isWanted) await deployments.closePreview(id, branch)
    }
    const isDue = ([branch, sha]: [string, string]) => known.get(branch) !== sha || outdated.has(branch)
    const outdatedPulls = [...pulls.heads].filter(([label, sha]) => pulls.open.has(label) && known.get(label) === sha && outdated.has(label))
    const changes = isFirst ? [] : [...[...heads].filter(isDue), ...pulls.changes, ...outdatedPulls]
    const recorded: [string, string][] = [...(isFirst ? heads : []), ...pulls.recorded]
    // Production goes first, because visitors see it.
    for (const [branch, commit_sha] of changes.toSorted(([a], [b]) => Number(b === project.repo_branch) - Number(a === project.repo_branch))) {
      const push = { project_id: id, url: entry.url, branch, commit_sha }
      if (parsePullRequestLabel(branch) !== undefined)
        for (const other of findSurplusPreviews(await db.read((tx) => listOpenPreviews(tx, id)), branch)) await deployments.closePreview(id, other)
      const decision = (await skipUnaffectedPush(push, options, closing.signal)) ? skipped : await deployments.handlePush(push)
      if (decision.kind === 'outdated') return
      if (decision.kind === 'wait') checkAgainAfter(entry, decision.deployment_id)
      else recorded.push([branch, commit_sha])
    }
    await db.write((tx) => {
      if (findProject(tx, id)?.repo_url !== entry.url) return
      if (isFirst) deleteBranchHeads(tx, id)
      else for (const branch of known.keys()) if (!heads.has(branch) && !pulls.heads.has(branch)) deleteBranchHeads(tx, id, branch)
      for (const [branch, sha] of recorded) upsertBranchHead(tx, id, branch, sha)
      const pullState = { knows_pull_requests: watch.pull_requests, has_merge_refs: pulls.has_merge_refs ? 1 : 0 } as const
      updateWatch(tx, id, { repo_url: entry.url, message: null, checked_at: isoTime(clock.now()), ...pullState })
      if (isFirst || watch.message !== null) tx.publish({ type: 'project_changed', id: id })
    })
  }

  /** A manual deployment may be of the same commit; the check repeats when that deployment knows its commit or has ended. */
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

  /** One after the other and with low priority, because there may be thousands at startup. */
  const scheduleSync = (ids: Iterable<string>): void => {
    for (const id of ids) changedProjects.add(id)
    syncing ??= (async () => {
      await nextTurn()
      for (const id of changedProjects) {
        if (closing.signal.aborted) return
        changedProjects.delete(id)
        await syncProject(id).catch((error: unknown) => log.error('repository_watch_failed', { project: id, error }))
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
        .catch((error: unknown) => log.error('repositories_watch_failed', { error }))
    },
    resync() {
      for (const entry of repositories.values()) {
        entry.failures = 0
        entry.nextCheckAt = clock.monotonic() + Math.random() * 5_000
        // A check that began before the machine slept has lost its connection, and would put off the next one.
        if (entry.checking) entry.isStale = true
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

const skipped = { kind: 'done' } as const

interface WatchFacts {
  project: ProjectRow
  watch: WatchRow
}

/** A check would find nothing to deploy. */
const isSwitchedOff = ({ deploys_pushes, previews, pull_requests }: WatchRow): boolean => deploys_pushes + previews + pull_requests === 0

/** The address to watch. A stopped project is not watched until its next deployment. */
function getWatchedUrl({ project, watch }: WatchFacts): string | undefined {
  const isOff = project.stopped_at !== null || isSwitchedOff(watch)
  return isOff ? undefined : (project.repo_url ?? undefined)
}
