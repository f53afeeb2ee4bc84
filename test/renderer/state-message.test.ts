import { expect, test } from 'vitest'
import type { RuntimeStateEvent } from '../../server/contract/deployments.ts'
import { formatStateMessage } from '../../renderer/features/logs/state-message.ts'

const event: RuntimeStateEvent = {
  state: 'running',
  ts: '2026-11-27T00:00:00.000Z',
  exit_code: null,
  deployment_id: 'dpl_01m8d6etd81zgt5g3ax7x24c5f',
}

test('a line about the state of an app names the deployment by its title, an old one by its ID', () => {
  expect(formatStateMessage(event, 'shop #5', false)).toBe('running (shop #5)')
  expect(formatStateMessage(event, undefined, false)).toBe('running (deployment …x24c5f)')
  expect(formatStateMessage({ ...event, deployment_id: null }, undefined, false)).toBe('running')
})

test('an app wakes up after it slept, and starts otherwise', () => {
  expect(formatStateMessage({ ...event, state: 'starting' }, '#2 Shop opens', true)).toBe('waking up for a request (#2 Shop opens)')
  expect(formatStateMessage({ ...event, state: 'exited', exit_code: 1 }, '#2 Shop opens', true)).toBe('exited with code 1 (#2 Shop opens)')
})
