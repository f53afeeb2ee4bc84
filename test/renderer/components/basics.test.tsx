import { act, fireEvent, renderHook, screen } from '@testing-library/react'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { CopyButton, copyText, CopyText, CopyTextButton } from '../../../renderer/components/copy.tsx'
import { ConfirmByNameDialog } from '../../../renderer/components/dialog.tsx'
import { DownloadButton } from '../../../renderer/components/download-button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../../renderer/components/feedback.tsx'
import { NotFound } from '../../../renderer/components/not-found.tsx'
import { Prose } from '../../../renderer/components/prose.tsx'
import { SecretDialog } from '../../../renderer/components/secret-dialog.tsx'
import { Sparkline } from '../../../renderer/components/sparkline.tsx'
import { VirtualList } from '../../../renderer/components/virtual-list.tsx'
import { useScrollToSection } from '../../../renderer/lib/use-scroll-to-section.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import { Server } from 'lucide-react'
import { renderPart } from '../../support/dashboard.tsx'

const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('names between backticks are code', () => {
  renderPart(<Prose text="Set `PORT` and `HOST`, then deploy." />)
  expect(document.getElementById('main')?.innerHTML).toBe('Set <code>PORT</code> and <code>HOST</code>, then deploy.')
})

describe('a copy', () => {
  test.each([
    ['a button', <CopyButton key="" text="secret" label="Copy token" />, 'Copy token', '[Copied]', '[Copy token]'],
    [
      'a button with words',
      <CopyTextButton key="" getText={() => 'secret'}>
        Copy for an issue
      </CopyTextButton>,
      'Copy for an issue',
      'Copied',
      'Copy for an issue',
    ],
    ['the text itself', <CopyText key="" text="secret" label="3f8a6c1" />, '3f8a6c1', '3f8a6c1 [copied]', '3f8a6c1'],
  ])('by %s is confirmed for a moment', async (_, element, name, copied, before) => {
    const writeText = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { text } = renderPart(element)
    await act(async () => void fireEvent.click(button(name)))
    expect([writeText.mock.calls, text()]).toEqual([[['secret']], copied])
    act(() => void vi.advanceTimersByTime(1_599))
    expect(text()).toBe(copied)
    act(() => void vi.advanceTimersByTime(1))
    expect(text()).toBe(before)
  })

  test.each([
    ['is refused', true],
    ['is refused, and the older way too', false],
  ])('that the browser’s clipboard %s', async (_, isDone) => {
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('denied'))
    const selected: (string | undefined)[] = []
    document.execCommand = () => {
      selected.push(document.querySelector('textarea')?.value)
      return isDone
    }
    expect(await copyText('secret')).toBe(isDone)
    expect([selected, document.querySelector('textarea')]).toEqual([['secret'], null])
    const onCopied = vi.fn()
    const { text } = renderPart(<CopyButton text="secret" label="Copy token" onCopied={onCopied} />)
    await act(async () => void fireEvent.click(button('Copy token')))
    expect([text(), onCopied.mock.calls.length]).toEqual(isDone ? ['[Copied]', 1] : ['[Copy token]', 0])
  })
})

test('the bars of a small chart', () => {
  renderPart(<Sparkline values={[0, 1, 13, 26]} label="Requests by hour" />)
  const bars = [...document.querySelectorAll('rect')].map((bar) =>
    ['x', 'y', 'width', 'height', 'opacity'].map((name) => Number(bar.getAttribute(name))),
  )
  expect(bars).toEqual([
    [0, 25, 23, 1, 0.25],
    [24, 23, 23, 3, 1],
    [48, 13, 23, 13, 1],
    [72, 0, 23, 26, 0.6],
  ])
  expect(screen.getByRole('img', { name: 'Requests by hour' })).toBeTruthy()
})

describe('feedback', () => {
  test('loading rows are announced once', () => {
    expect(renderPart(<SkeletonRows rows={3} height={40} />).text()).toBe('Loading')
    expect(document.querySelectorAll('.skeleton-row')).toHaveLength(3)
    expect([...document.querySelectorAll<HTMLElement>('.skeleton')].map(({ style }) => style.width)).toEqual([
      '12px',
      '34%',
      '20%',
      '12px',
      '27%',
      '15%',
      '12px',
      '20%',
      '19%',
    ])
  })

  test.each([
    ['a part', false, 2],
    ['the page', true, 1],
  ])('an empty state of %s', (_, isPage, level) => {
    renderPart(
      <EmptyState icon={Server} title="No nodes" isPage={isPage} action={<button type="button">Add</button>}>
        Add one.
      </EmptyState>,
    )
    expect(screen.getByRole('heading', { name: 'No nodes', level })).toBeTruthy()
    expect(button('Add')).toBeTruthy()
  })

  test('an error says what failed, where, and how to go on', async () => {
    const onRetry = vi.fn()
    const problem = new ApiError('invalid_input', 'Change `slug`.', { issues: [{ path: 'slug', message: 'Too long.' }], request_id: 'req_1' })
    const { text, user } = renderPart(<ProblemView problem={problem} onRetry={onRetry} />)
    expect(text()).toMatch(/^Change slug\. slug Too long\. invalid_input req_1 .*Try again$/)
    await user.click(button('Try again'))
    expect(onRetry.mock.calls).toHaveLength(1)
  })

  test('an error without a request and another try', () => {
    expect(renderPart(<ProblemView problem={new ApiError('unreachable', 'No answer.')} />).text()).toMatch(/^No answer\. unreachable/)
    expect(screen.queryByRole('button')).toBeNull()
  })
})

describe('a secret that is shown once', () => {
  const show = (own: Partial<Parameters<typeof SecretDialog>[0]> = {}) => {
    const onClose = vi.fn()
    vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
    return { ...renderPart(<SecretDialog title="Token" description="Shown once." secret="svc_1" kind="token" onClose={onClose} {...own} />), onClose }
  }
  const click = (name: string) => act(async () => void fireEvent.click(button(name)))
  const question = 'Close without copying? You won’t see the token again.'

  test('is asked about before it is lost', async () => {
    const { text, onClose } = show()
    expect(text()).toBe('Token Shown once. svc_1 [Copy token] Done [Close]')
    await click('Done')
    expect([onClose.mock.calls.length, text()]).toEqual([0, `Token Shown once. svc_1 [Copy token] ${question} Close anyway Copy token [Close]`])
    await click('Close anyway')
    expect(onClose.mock.calls).toHaveLength(1)
  })

  test('may be copied instead', async () => {
    const { text, onClose } = show()
    await click('Close')
    fireEvent.click(screen.getAllByRole('button', { name: 'Copy token' }).at(-1)!)
    await act(async () => {})
    expect(text()).not.toContain(question)
    await click('Done')
    expect(onClose.mock.calls).toHaveLength(1)
  })

  test.each([
    ['its button', () => click('Copy token')],
    ['a selection', async () => void fireEvent.copy(screen.getByText('svc_1'))],
    ['a command that has it', () => click('Copy command')],
  ])('is copied by %s', async (_, copy) => {
    const { onClose } = show({ children: (onCopied) => <CopyButton text="login svc_1" label="Copy command" onCopied={onCopied} /> })
    await copy()
    await click('Done')
    expect(onClose.mock.calls).toHaveLength(1)
  })
})

test('what cannot be undone needs the name', async () => {
  const [onConfirm, onOpenChange] = [vi.fn(), vi.fn()]
  const { user } = renderPart(
    <ConfirmByNameDialog open onOpenChange={onOpenChange} title="Delete?" name="shop" action="Delete" busy={false} onConfirm={onConfirm} />,
  )
  const field = screen.getByLabelText('Type shop to confirm')
  await user.type(field, 'sho{Enter}')
  expect([button('Delete').disabled, onConfirm.mock.calls.length]).toEqual([true, 0])
  await user.type(field, 'p{Enter}')
  expect([button('Delete').disabled, onConfirm.mock.calls.length]).toEqual([false, 1])
  await user.click(button('Cancel'))
  expect(onOpenChange.mock.calls).toEqual([[false]])
})

test('a download shows what has arrived, and saves the file', async () => {
  const file = Promise.withResolvers<Blob | null>()
  let progress = (_bytes: number) => {}
  vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:file')
  const saved: string[] = []
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push(`${this.download} ${this.href}`)
  })
  const { text } = renderPart(
    <DownloadButton
      name="dump.sql"
      load={(onProgress) => {
        progress = onProgress
        return file.promise
      }}
    />,
  )
  await act(async () => void fireEvent.click(button('Download')))
  expect(button('Download').getAttribute('aria-busy') ?? String(button('Download').disabled)).toBe('true')
  act(() => progress(2_000_000))
  expect(text()).toContain('2.0 MB')
  await act(async () => file.resolve(new Blob(['sql'])))
  expect([text(), saved]).toEqual(['Download', ['dump.sql blob:file']])
})

test.each([true, false])('a page that is not found leads on (the whole page: %s)', (isPage) => {
  const { text } = renderPart(<NotFound isPage={isPage} />)
  expect(text()).toBe('Page not found The link may be outdated, or the page was deleted. Go to projects · Help')
  expect([screen.queryAllByRole('heading', { level: 1 }).length, document.title]).toEqual([isPage ? 1 : 0, 'Not found · Homeport'])
})

test.each<[string, boolean, string[]]>([
  ['?at=dumps', false, []],
  ['?at=dumps', true, ['dumps']],
  ['?at=none', true, []],
  ['', true, []],
])('the section that %s names is scrolled to once it is there (%s)', (search, isReady, expected) => {
  history.replaceState(null, '', `/app/${search}`)
  const scrolled: string[] = []
  vi.spyOn(Element.prototype, 'scrollIntoView').mockImplementation(function (this: Element) {
    scrolled.push(this.id)
  })
  document.body.append(Object.assign(document.createElement('section'), { id: 'dumps' }))
  renderHook(() => useScrollToSection(isReady))
  expect(scrolled).toEqual(expected)
})

test('a list that is near its end asks for more', () => {
  const onEndReached = vi.fn()
  const items = ['GET /', 'GET /favicon.ico']
  const parts = { label: 'Requests', getKey: (item: string) => item, renderItem: (item: string) => item, isComplete: false }
  renderPart(<VirtualList items={items} onEndReached={onEndReached} {...parts} />)
  expect(onEndReached).toHaveBeenCalled()
})
