import { expect, test } from 'vitest'
import { formatIssue } from '../../renderer/features/deployments/format-issue.ts'
import type { DeploymentDetail } from '../../server/contract/deployments.ts'

const deployment = {
  id: 'dpl_1',
  error: { code: 'build_failed', message: 'The build failed.', hint: 'Fix it.' },
  steps: [{ name: 'build', status: 'failed' }],
  framework: null,
  runtime: 'docker',
  commit_sha: 'abc',
  branch: 'main',
} as unknown as DeploymentDetail

test('a failure becomes an issue with its facts and the lines of the log, whatever these contain', () => {
  const text = formatIssue(deployment, [
    { number: 7, text: '\u001b[31mError: ```\u001b[0m' },
    { number: 8, text: 'at x' },
  ])
  expect(text).toMatch(
    /^\*\*The build failed\.\*\*\n\nFix it\.\n\n- Code: build_failed\n- Step: Building\n- Runtime: Docker\n- Commit: abc \(main\)\n/,
  )
  expect(text).toMatch(/\n````\n7 {2}Error: ```\n8 {2}at x\n````$/)
  expect(formatIssue(deployment, [])).not.toContain('```')
})
