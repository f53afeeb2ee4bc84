import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { UpdateState } from '../../../preload/bridge.ts'
import { UpdateView } from '../../../renderer/features/desktop/update-view.tsx'
import { renderPart } from '../../support/dashboard.tsx'

test.each<[UpdateState, string, string]>([
  [{ name: 'off', reason: 'Updates come with the system.' }, 'Updates come with the system.', ''],
  [{ name: 'off', reason: 'Install it first.', page: 'https://example.com/get' }, 'Install it first. Check for updates', ''],
  [{ name: 'downloading', version: '2.0.0', percent: 42 }, 'Downloading Homeport 2.0.042 % [Downloading Homeport 2.0.0]', 'status'],
  [{ name: 'idle', checked_at: null }, 'Homeport checks for updates once a day. Check now', 'status'],
  [{ name: 'idle', checked_at: '2026-01-31T12:00:00.000Z' }, 'Up to date. Last checked Jan 31, 2026. Check now', 'status'],
  [{ name: 'checking' }, 'Checking for updates… Check now', 'status'],
  [{ name: 'available', version: '2.0.0' }, 'Homeport 2.0.0 is available. Download', 'status'],
  [
    { name: 'ready', version: '2.0.0' },
    'Homeport 2.0.0 is ready to install. Processes are stopped gracefully before the restart; containers keep running. Restart to update',
    'status',
  ],
  [{ name: 'failed', message: 'No network.' }, 'No network. Check now', 'alert'],
])('an update: %j', (update, expected, role) => {
  expect(renderPart(<UpdateView update={update} />).text()).toBe(expected)
  expect([...document.querySelectorAll('[role=status], [role=alert]')].map((one) => one.role ?? one.getAttribute('role')).join()).toBe(role)
})

test('a download shows its progress', () => {
  renderPart(<UpdateView update={{ name: 'downloading', version: '2.0.0', percent: 42 }} />)
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('42')
})

test.each<[UpdateState, string, string[][]]>([
  [{ name: 'idle', checked_at: null }, 'Check now', [['check']]],
  [{ name: 'failed', message: 'No network.' }, 'Check now', [['check']]],
  [{ name: 'checking' }, 'Check now', []],
  [{ name: 'available', version: '2.0.0' }, 'Download', [['download']]],
  [{ name: 'ready', version: '2.0.0' }, 'Restart to update', [['restart']]],
])('the action of an update: %j', async (update, name, expected) => {
  const updateDesktop = vi.fn<(action: string) => void>()
  vi.stubGlobal('homeport', { updateDesktop })
  const { user } = renderPart(<UpdateView update={update} />)
  await user.click(screen.getByRole('button', { name }))
  expect(updateDesktop.mock.calls).toEqual(expected)
})
