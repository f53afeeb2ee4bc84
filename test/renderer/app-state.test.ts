import { expect, test } from 'vitest'
import { chooseAppState } from '../../renderer/features/logs/app-state.ts'

test.each([
  ['nothing is known', {}, null],
  ['a version that failed leaves the current one running', { dpl_01: 'running', dpl_02: 'stopped' }, 'running'],
  ['an old version that ends leaves the new one running', { dpl_01: 'exited', dpl_02: 'running' }, 'running'],
  ['a sleeping version is asleep while the next one starts', { dpl_01: 'cold', dpl_02: 'starting' }, 'cold'],
  ['the newest of two that run', { dpl_01: 'running', dpl_02: 'cold' }, 'cold'],
  ['a first version that crashes', { dpl_01: 'oom' }, 'oom'],
  ['a crashed version that starts again', { dpl_01: 'stopped', dpl_02: 'starting' }, 'starting'],
] as const)('%s', (_name, states, expected) => {
  expect(chooseAppState(new Map(Object.entries(states)))).toBe(expected)
})
