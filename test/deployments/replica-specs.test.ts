import { expect, test } from 'vitest'
import { checkFixedPort } from '../../server/deployments/replica-specs.ts'

test('a process on a port of its own choice runs once, a container as often as the project says', () => {
  expect(() => checkFixedPort({ replicas: 2, listen_port: 3000 }, true)).toThrow(/port 3000 .* run one replica of it, not 2\.$/)
  for (const [replicas, listen_port, isOnHost] of [
    [1, 3000, true],
    [2, null, true],
    [2, 3000, false],
  ] as const)
    expect(() => checkFixedPort({ replicas, listen_port }, isOnHost)).not.toThrow()
})
