import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import ShortcutsDialog, { ShortcutList } from '../../../renderer/features/keyboard/shortcuts-dialog.tsx'
import { focusAdjacentRow } from '../../../renderer/features/keyboard/row-navigation.ts'
import { useGlobalShortcuts } from '../../../renderer/features/keyboard/use-global-shortcuts.ts'
import { useKeyboard } from '../../../renderer/stores/keyboard.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { renderPart } from '../../support/dashboard.tsx'

function Page() {
  useGlobalShortcuts()
  return (
    <ul data-rows>
      <li>
        <a href="/1">One</a>
        <a href="/1b">One, again</a>
      </li>
      <li>
        <button type="button">No link</button>
      </li>
      <li>
        <a href="/2">Two</a>
      </li>
      <li>
        <a href="/3">Three</a>
      </li>
    </ul>
  )
}
/** A place below the top of the window for each row, because an emulated document has no layout. */
const positionRows = (tops: Record<string, number>) =>
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockImplementation(function (this: HTMLElement) {
    return new DOMRect(0, tops[this.textContent] ?? 0, 100, 20)
  })
const press = (key: string, held: KeyboardEventInit = {}) => fireEvent.keyDown(document.activeElement ?? document.body, { key, ...held })
const focused = () => document.activeElement?.textContent
const focus = (name: string) => screen.getByText(name).focus()

afterEach(() => {
  vi.restoreAllMocks()
  useUi.setState({ palette_open: false, new_project_open: false })
  useKeyboard.setState({ has_single_keys: true, is_shortcuts_open: false })
})

test.each([
  ['p', '/'],
  ['d', '/domains'],
  ['i', '/instance'],
  ['a', '/account'],
  ['s', '/instances'],
  ['h', '/help'],
])('“g” and “%s” open %s', (key, path) => {
  renderPart(<Page />)
  press('g')
  expect(location.pathname).toBe('/app/')
  press(key)
  expect(location.pathname).toBe(path)
})

test('the palette opens and closes', () => {
  renderPart(<Page />)
  press('k', { ctrlKey: true })
  expect(useUi.getState().palette_open).toBe(true)
  press('k', { ctrlKey: true })
  expect(useUi.getState().palette_open).toBe(false)
})

test('a new project and the list of shortcuts open', () => {
  renderPart(<Page />)
  press('n')
  expect([useUi.getState().new_project_open, useKeyboard.getState().is_shortcuts_open]).toEqual([true, false])
  press('?', { shiftKey: true })
  expect(useKeyboard.getState().is_shortcuts_open).toBe(true)
})

test('keys move through the rows of a list', () => {
  positionRows({ One: -10, Two: 10, Three: 30 })
  renderPart(<Page />)
  press('j')
  expect(focused()).toBe('Two')
  press('j')
  expect(focused()).toBe('Three')
  press('ArrowUp')
  press('k')
  expect(focused()).toBe('One')
  press('ArrowDown')
  expect(focused()).toBe('Two')
})

test.each<[string, Record<string, number>, string | null, 1 | -1, string, boolean, string | undefined]>([
  ['the first visible row', { One: -10, Two: 0, Three: 30 }, null, 1, 'j', true, 'Two'],
  ['the row below by place', { One: 0, Two: 40, Three: 20 }, 'One', 1, 'j', true, 'Three'],
  ['no row above the first', { One: 0, Two: 20, Three: 40 }, 'One', -1, 'k', true, 'One'],
  ['no row below the last', { One: 0, Two: 20, Three: 40 }, 'Three', 1, 'arrowdown', true, 'Three'],
  ['the row of another link in it', { One: 0, Two: 20, Three: 40 }, 'One, again', 1, 'j', true, 'Two'],
])('%s is focused', (_, tops, from, step, key, isHandled, expected) => {
  positionRows(tops)
  renderPart(<Page />)
  if (from !== null) focus(from)
  expect([focusAdjacentRow(step, key), focused()]).toEqual([isHandled, expected])
})

test.each(['arrowdown', 'arrowup'])('“%s” scrolls the page until a row is focused', (key) => {
  positionRows({ One: 0 })
  renderPart(<Page />)
  expect(focusAdjacentRow(1, key)).toBe(false)
  expect(document.activeElement).toBe(document.body)
})

test('rows that are all above the window are not focused', () => {
  positionRows({ One: -60, Two: -40, Three: -20 })
  renderPart(<Page />)
  expect(focusAdjacentRow(1, 'j')).toBe(false)
})

test('a page without a list leaves the key to the browser', () => {
  renderPart(<p>Nothing</p>)
  expect(focusAdjacentRow(1, 'j')).toBe(false)
})

const shortcut = (name: string) => screen.getByText(name, { selector: 'dt' }).parentElement
test('shortcuts are listed by where they work', () => {
  renderPart(<ShortcutList heading="h2" />)
  expect(screen.getAllByRole('region').map((group) => group.getAttribute('aria-label'))).toEqual(['Everywhere', 'Go to', 'In a project', 'In lists'])
  expect(screen.getAllByRole('heading', { level: 2 })).toHaveLength(4)
  expect(screen.getByRole('region', { name: 'In a project' }).textContent).toBe(
    'In a projectDeploydOpen the app in a browseroOverviewvLogslEnvironmente',
  )
  expect(shortcut('Previous row')?.textContent).toMatch(/^Previous rowk or ./)
  expect(shortcut('Switch to an instance by its position')?.textContent).toContain('or g 1 … 9')
})

test('single keys are turned off, and chords stay on', async () => {
  const { user } = renderPart(<ShortcutList heading="h3" />)
  expect(screen.getAllByRole('heading', { level: 3 })).toHaveLength(4)
  expect(screen.queryByText('(off)')).toBeNull()
  await user.click(screen.getByLabelText('Single-key shortcuts'))
  expect(useKeyboard.getState().has_single_keys).toBe(false)
  const off = [...document.querySelectorAll('dt')].filter(({ textContent }) => textContent.endsWith(' (off)')).map(({ textContent }) => textContent)
  expect(off).toContain('Deploy (off)')
  expect(off).toContain('Projects (off)')
  expect(off).not.toContain('Search or run a command (off)')
  expect(off).not.toContain('Next row; Enter opens it (off)')
  expect(off).toHaveLength(new Set(off).size)
})

test('the dialog of shortcuts closes', async () => {
  useKeyboard.setState({ is_shortcuts_open: true })
  const { user, text } = renderPart(<ShortcutsDialog />)
  expect(text()).toContain('Keyboard shortcuts Shortcuts are disabled while you type in a field and while a dialog is open.')
  await user.click(screen.getByRole('button', { name: 'Close' }))
  expect(useKeyboard.getState().is_shortcuts_open).toBe(false)
})
