/**
 * The label of a pull request in place of a branch, `pull/12`. A branch of the repository with such a name is treated like a pull request, so
 * that no branch name gives untrusted code more access.
 */
export const createPullRequestLabel = (number: number): string => `pull/${number}`

/** The number of a pull request; undefined for a branch. */
export function parsePullRequestLabel(branch: string | null): number | undefined {
  const digits = /^pull\/([1-9]\d{0,8})$/.exec(branch ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Whether the code of a deployment may be untrusted. The project itself chose the code of production. */
export const isOfPullRequest = ({ target, branch }: { target: 'production' | 'preview'; branch: string | null }): boolean =>
  target === 'preview' && parsePullRequestLabel(branch) !== undefined

/** The ref of a pull request's head at a forge: GitHub, Gitea and Forgejo; GitLab; Bitbucket Server. */
export const listPullRequestRefs = (number: number | '*'): string[] => [
  `refs/pull/${number}/head`,
  `refs/merge-requests/${number}/head`,
  `refs/pull-requests/${number}/from`,
]

/** GitHub publishes the result of a merge while a pull request is open. */
export const mergeRefPattern = 'refs/pull/*/merge'
