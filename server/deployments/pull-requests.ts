import { limits } from '../contract/limits.ts'
import { createPullRequestLabel, isOfPullRequest, parsePullRequestLabel } from '../lib/pull-request.ts'
import type { ContainedCommitsRequest, ListBranchesRequest, PullRequestHead } from '../source/index.ts'
import { findWatch } from '../store/previews.ts'
import type { Tx } from '../store/store.ts'
import type { DeploymentRow, PreviewRow, WatchRow } from '../store/tables.ts'

export interface PullRequestSources {
  listPullRequests(request: ListBranchesRequest, signal: AbortSignal): Promise<PullRequestHead[]>
  listContainedCommits(request: ContainedCommitsRequest, signal: AbortSignal): Promise<Set<string>>
}

/** The result of a check for pull requests, by label. */
export interface PullRequestCheck {
  /** The head of every pull request that is watched, open or closed. */
  heads: Map<string, string>
  open: Set<string>
  /** Heads to deploy, the oldest pull request first. */
  changes: [label: string, commit_sha: string][]
  /** Heads that are recorded without a deployment. */
  recorded: [label: string, commit_sha: string][]
  has_merge_refs: boolean
}

export interface PullRequestFacts {
  repository: ListBranchesRequest
  watch: WatchRow
  /** The repository is checked for the first time. */
  isFirst: boolean
  production: { branch: string; has_moved: boolean }
  /** Heads as of the last check. */
  known: ReadonlyMap<string, string>
  previews: readonly PreviewRow[]
}

const none = (): PullRequestCheck => ({ heads: new Map(), open: new Set(), changes: [], recorded: [], has_merge_refs: false })

/**
 * Determines which pull requests are open. Forges keep the refs of closed ones, so a ref alone is no proof: a pull request counts as open from the first
 * change of its head that is seen, until its ref disappears, its head is in the production branch, or the forge no longer publishes its merge.
 */
export async function checkPullRequests(facts: PullRequestFacts, sources: PullRequestSources, signal: AbortSignal): Promise<PullRequestCheck> {
  const { repository, watch, known, previews, production } = facts
  if (watch.pull_requests === 0) return none()
  const listed = await sources.listPullRequests(repository, signal)
  const heads = new Map(listed.map(({ number, commit_sha }) => [createPullRequestLabel(number), commit_sha]))
  const has_merge_refs = (!facts.isFirst && watch.has_merge_refs === 1) || listed.some((one) => one.has_merge_ref)
  if (facts.isFirst || watch.knows_pull_requests === 0) return { ...none(), heads, recorded: [...heads], has_merge_refs }

  // A merge ref appears some seconds after the head, so a head without one is checked again.
  const candidates = listed.filter((one) => !has_merge_refs || one.has_merge_ref).map(({ number }) => createPullRequestLabel(number))
  const changed = candidates.filter((label) => known.get(label) !== heads.get(label))
  const hasPreview = new Set(previews.map(({ branch }) => branch))
  const current = candidates.filter((label) => hasPreview.has(label) || changed.includes(label))
  const isUnclear = changed.length > 0 || (production.has_moved && current.length > 0)
  const commits = current.map((label) => heads.get(label) ?? '')
  const merged = isUnclear ? await sources.listContainedCommits({ ...repository, branch: production.branch, commits }, signal) : new Set<string>()
  const isOpen = (label: string) => !merged.has(heads.get(label) ?? '')
  const withHead = (labels: string[]) => labels.map((label): [string, string] => [label, heads.get(label) ?? ''])
  const opened = changed.filter(isOpen)
  return {
    heads,
    open: new Set(current.filter(isOpen)),
    changes: withHead(opened.slice(0, limits.pull_requests.previews)).toReversed(),
    recorded: withHead([...changed.filter((label) => !isOpen(label)), ...opened.slice(limits.pull_requests.previews)]),
    has_merge_refs,
  }
}

/** The previews of pull requests to close to make room for another one: the least recently changed. */
export function findSurplusPreviews(previews: readonly PreviewRow[], next: string): string[] {
  const others = previews.filter(({ branch }) => parsePullRequestLabel(branch) !== undefined && branch !== next)
  const oldestFirst = others.toSorted((a, b) => a.updated_at.localeCompare(b.updated_at))
  return oldestFirst.slice(0, Math.max(0, others.length + 1 - limits.pull_requests.previews)).map(({ branch }) => branch)
}

/** Whether a deployment may contain untrusted code and must not get the project's secrets and data. */
export const isRestricted = (tx: Tx, { project_id, target, branch }: Pick<DeploymentRow, 'project_id' | 'target' | 'branch'>): boolean =>
  isOfPullRequest({ target, branch }) && findWatch(tx, project_id).pull_request_secrets === 0
