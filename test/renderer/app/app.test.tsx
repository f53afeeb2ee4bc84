import { act, fireEvent, screen, within } from '@testing-library/react'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ConnectionBanner } from '../../../renderer/app/connection-banner.tsx'
import { ErrorBoundary } from '../../../renderer/app/error-boundary.tsx'
import { InstanceSwitcher } from '../../../renderer/app/instance-switcher.tsx'
import { ProjectNavigation } from '../../../renderer/app/project-navigation.tsx'
import { RemoteBanner } from '../../../renderer/app/remote-banner.tsx'
import { Toasts } from '../../../renderer/app/toasts.tsx'
import { prefetchPages } from '../../../renderer/routes.ts'
import { type InstanceConnection, localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { type Toast, useUi } from '../../../renderer/stores/ui.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const server: InstanceConnection = { ...localConnection, id: 'rem_1', name: 'Server', origin: 'https://homeport.example:4600' }
const wait = (ms: number) => act(() => void vi.advanceTimersByTime(ms))
afterEach(() => vi.useRealTimers())

describe('toasts', () => {
  const showToasts = (...own: Partial<Toast>[]) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const part = renderPart(<Toasts />)
    act(() => own.forEach((one) => useUi.getState().showToast({ kind: 'done', text: 'Saved.', request_id: null, ...one })))
    return part
  }

  test('stay as long as they take to read', () => {
    const { text } = showToasts({ text: 'Saved.' }, { kind: 'failed', text: 'Not saved.' })
    expect(text()).toBe('Saved. [Dismiss] Not saved. [Dismiss]')
    wait(3_999)
    expect(text()).toContain('Saved. [Dismiss] Not')
    wait(1)
    expect(text()).toBe('Not saved. [Dismiss]')
    wait(8_000)
    expect(text()).toBe('')
  })

  test('stay while the pointer or the focus is on them', () => {
    const { text } = showToasts({})
    for (const [enter, leave] of [
      [fireEvent.pointerEnter, fireEvent.pointerLeave],
      [fireEvent.focus, fireEvent.blur],
    ] as const) {
      enter(screen.getByText('Saved.').parentElement!.parentElement!)
      wait(60_000)
      expect(text()).toBe('Saved. [Dismiss]')
      leave(screen.getByText('Saved.').parentElement!.parentElement!)
    }
    wait(4_000)
    expect(text()).toBe('')
  })

  test('have the ID of the request and a topic of the help', () => {
    const { text } = showToasts({ kind: 'failed', text: 'Not saved.', request_id: 'req_1', help: 'backups' })
    expect(text()).toMatch(/^Not saved\. .*req_1.* How to fix it \[Dismiss\]$/)
  })

  test('belong to their instance', () => {
    const { text } = showToasts({ of: 'rem_1' })
    expect(text()).toBe('')
    act(() => useConnection.setState({ current: server }))
    expect(text()).toBe('Saved. [Dismiss]')
  })

  test('the newest is dismissed by Escape, after dialogs and menus', () => {
    const { text } = showToasts({ text: 'One' }, { text: 'Two' })
    const dialog = document.createElement('div')
    dialog.setAttribute('role', 'dialog')
    document.body.append(dialog)
    fireEvent.keyDown(window, { key: 'Escape' })
    expect(text()).toBe('One [Dismiss] Two [Dismiss]')
    dialog.remove()
    fireEvent.keyDown(window, { key: 'Enter' })
    expect(text()).toBe('One [Dismiss] Two [Dismiss]')
    fireEvent.keyDown(window, { key: 'Escape' })
    expect(text()).toBe('One [Dismiss]')
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }))
    expect(text()).toBe('')
  })
})

describe('a lost connection', () => {
  const failed = (status: number) => ({ name: 'waiting' as const, problem: new ApiError('unreachable', 'No answer.', { status }) })
  const lost = 'Connection to Homeport lost. This page may be outdated; it reconnects automatically. Retry now'

  test.each([
    ['to this machine', localConnection, 0, lost],
    ['to this machine, which answers', localConnection, 503, lost],
    ['to a remote instance', server, 502, lost.replace('Connection to Homeport lost.', 'Server is not responding.')],
    ['to this machine, with a remote instance open', server, 0, lost],
  ])('%s is reported after a moment, until it is back', (_, current, status, expected) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { text } = renderPart(<ConnectionBanner />)
    act(() => useConnection.setState({ current, stream: failed(status) }))
    wait(1_499)
    expect(text()).toBe('')
    wait(1)
    expect(text()).toBe(expected)
    act(() => useConnection.setState({ stream: { name: 'connecting' } }))
    expect(text()).toBe(expected)
    act(() => useConnection.setState({ stream: { name: 'open' } }))
    expect(text()).toBe('')
  })

  test('is tried again at once', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const onOnline = vi.fn()
    window.addEventListener('online', onOnline, { once: true })
    renderPart(<ConnectionBanner />)
    act(() => useConnection.setState({ stream: failed(0) }))
    wait(1_500)
    fireEvent.click(screen.getByRole('button', { name: 'Retry now' }))
    expect(onOnline).toHaveBeenCalledOnce()
  })
})

describe('an error while a page is rendered', () => {
  let isBroken = true
  const Page = () => {
    if (isBroken) throw new Error('no list')
    return <p>The page</p>
  }
  const show = (fallback?: string) => {
    isBroken = true
    vi.spyOn(console, 'error').mockImplementation(() => {})
    return renderPart(
      <ErrorBoundary resetKey="/a" {...(fallback === undefined ? {} : { fallback })}>
        <Page />
      </ErrorBoundary>,
    )
  }
  afterEach(() => vi.restoreAllMocks())

  test('is shown, and tried again', async () => {
    const { text, user } = show()
    expect(text()).not.toContain('The page')
    isBroken = false
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    expect(text()).toBe('The page')
  })

  test('may have a replacement', () => expect(show('Nothing').text()).toBe('Nothing'))
})

test.each([
  ['', 'Overview', 'Summary'],
  ['/deployments', 'Deployments', 'All deployments'],
  ['/deployments/dpl_1', 'Deployments', 'All deployments'],
  ['/logs/requests', 'Logs', 'Requests'],
  ['/metrics', 'Metrics', null],
])('the tab of the page of a project at “%s” is %s', (path, tab, page) => {
  renderPart(<ProjectNavigation projectPath="/projects/shop" location={`/projects/shop${path}`} />)
  const tabs = within(screen.getByRole('navigation', { name: 'Project' }))
  expect(tabs.getByRole('link', { current: true }).textContent).toBe(tab)
  const pages = screen.queryByRole('navigation', { name: `${tab} pages` })
  expect(pages && within(pages).getByRole('link', { current: 'page' }).textContent).toBe(page)
})

test('a remote instance is named on its pages', () => {
  expect(renderPart(<RemoteBanner connection={server} />).text()).toBe('[Remote instance] Serverhomeport.example:4600 Back to this machine')
})

describe('the switch of instances', () => {
  const { instance, user, ...others } = createExample(instanceOperations.getSession.success.json)
  const session = (is_instance_owner: boolean, is_local = true) => ({
    ...others,
    user: { ...user, is_instance_owner },
    instance: { ...instance, is_local, runtime: { ...instance.runtime, name: 'docker' as const, version: '29.1' } },
  })
  const open = async (data: ReturnType<typeof session>) => {
    useConnection.setState({ connections: [localConnection, server] })
    const part = renderPart(<InstanceSwitcher />, { data: [[queryKeys.session, data]] })
    const label = part.text()
    await part.user.click(screen.getByRole('button'))
    const items = [...screen.getAllByRole('menuitemradio'), ...screen.queryAllByRole('menuitem')].map(({ textContent }) => textContent)
    return { ...part, label, items }
  }

  test('names the runtime, and offers what an owner may do', async () => {
    const { label, items } = await open(session(true))
    expect(label).toBe('This machineDocker 29.1 [Switch instance]')
    expect(items).toEqual(['This machine127.0.0.1:4600', 'Serverhomeport.example:4600', 'Add instance…', 'All instances', 'About this instance'])
  })

  test('names the host on another device, and offers others less', async () => {
    const { label, items } = await open(session(false, false))
    expect(label).toBe('127.0.0.1Docker 29.1 [Switch instance]')
    expect(items).toEqual(['127.0.0.1127.0.0.1:4600', 'Serverhomeport.example:4600', 'About this instance'])
  })
})

describe('the other pages', () => {
  const isPrefetching = (connection: { saveData?: boolean } | undefined) => {
    const idle = vi.fn()
    vi.stubGlobal('requestIdleCallback', idle)
    vi.stubGlobal('navigator', { connection })
    prefetchPages()
    return idle.mock.calls.length === 1
  }

  test('are loaded when the browser is idle, unless it saves data', () => {
    expect([undefined, {}, { saveData: false }, { saveData: true }].map(isPrefetching)).toEqual([true, true, true, false])
  })
})
