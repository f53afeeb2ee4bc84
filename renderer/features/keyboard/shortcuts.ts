import { useLayoutEffect, useRef } from 'react'
import { chordOf, createSpelling, isApple, isSingle } from './chords.ts'
import { useKeyboard } from './store.ts'

/** Where a shortcut holds; the sheet has a part for each, in this order. */
export const places = {
  everywhere: 'Everywhere',
  go: 'Go to',
  project: 'In a project',
  list: 'In lists',
} as const

export interface Shortcut {
  /** Any of these. Keys of a chord are joined by `+`, keys one after another by a blank: `mod+k`, `g p`. */
  keys: readonly string[]
  /** As the sheet prints them, where they are many of a kind: `g 1 … g 9`. */
  shown?: string
  words: string
  where: keyof typeof places
  /** Its chords hold while a dialog is open and while somebody types in a field, too; characters alone never do. */
  always?: boolean
}

/**
 * Every key of the dashboard: what `useShortcuts` listens for, and what the sheet shows. Before one is added: browsers and screen readers
 * have most chords with Ctrl and ⌘ (C, F, L, N, P, R, T, W, 1 to 9), and single characters are off in fields, menus and dialogs.
 */
export const shortcuts = {
  palette: { keys: ['mod+k', '/'], words: 'Find a project, or what to do', where: 'everywhere', always: true },
  'new-project': { keys: ['n'], words: 'New project', where: 'everywhere' },
  sheet: { keys: ['?', 'mod+/'], words: 'This sheet', where: 'everywhere' },
  'go-projects': { keys: ['g p'], words: 'Projects', where: 'go' },
  'go-domains': { keys: ['g d'], words: 'Domains', where: 'go' },
  'go-instance': { keys: ['g i'], words: 'This instance', where: 'go' },
  'go-account': { keys: ['g a'], words: 'Account', where: 'go' },
  'go-instances': { keys: ['g s'], words: 'All instances', where: 'go' },
  // Ctrl and Alt with a digit are tabs in browsers; ⌘⇧ with 3, 4 and 5 is the screenshot of a Mac.
  instance: {
    keys: [...digits('g '), ...digits('mod+alt+'), ...digits('mod+shift+')],
    shown: isApple ? '⌘ ⌥ 1 … 9, or g 1 … 9' : 'Ctrl Shift 1 … 9, or g 1 … 9',
    words: 'Another instance, by its place in the list',
    where: 'go',
    always: true,
  },
  'go-help': { keys: ['g h'], words: 'Help', where: 'go' },
  deploy: { keys: ['d'], words: 'Deploy', where: 'project' },
  open: { keys: ['o'], words: 'Open the app in the browser', where: 'project' },
  overview: { keys: ['v'], words: 'Overview', where: 'project' },
  logs: { keys: ['l'], words: 'Logs', where: 'project' },
  environment: { keys: ['e'], words: 'Environment', where: 'project' },
  down: { keys: ['j', 'arrowdown'], words: 'Next line; Enter opens it', where: 'list' },
  up: { keys: ['k', 'arrowup'], words: 'Line before', where: 'list' },
} as const satisfies Record<string, Shortcut>

function digits(before: string): readonly string[] {
  return Array.from({ length: 9 }, (_, index) => `${before}${index + 1}`)
}

export type ShortcutId = keyof typeof shortcuts
/** May answer false: not for me, let the browser have it. */
export type ShortcutHandlers = { [Id in ShortcutId]?: ((event: KeyboardEvent, keys: string) => unknown) | undefined | false }

const entries = Object.entries(shortcuts) as [ShortcutId, Shortcut][]
const layers = new Set<{ current: ShortcutHandlers }>()
const spelling = createSpelling()

/** Handles shortcuts as long as the component is there. What has no handler is left to the browser. */
export function useShortcuts(handlers: ShortcutHandlers): void {
  const layer = useRef(handlers)
  // Before it is painted: what is in sight has its keys.
  useLayoutEffect(() => {
    layer.current = handlers
  })
  useLayoutEffect(() => {
    if (layers.size === 0) window.addEventListener('keydown', onKey)
    layers.add(layer)
    return () => {
      layers.delete(layer)
      if (layers.size === 0) window.removeEventListener('keydown', onKey)
    }
  }, [])
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const chord = chordOf(event)
  if (chord === null) return
  const live = liveKeys(event)
  const { complete, isBegun } = spelling.press(
    chord,
    live.map(({ keys }) => keys),
    event.timeStamp,
  )
  if (isBegun) return event.preventDefault()
  const done = live.some(({ keys, handler }) => keys === complete && handler(event, keys) !== false)
  if (done) event.preventDefault()
}

/** What a key would do here and now. */
function liveKeys(event: KeyboardEvent) {
  const hasSingles = useKeyboard.getState().has_single_keys
  const isBusy = isTypedInto(event.target) || document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') !== null
  return [...layers].flatMap(({ current }) =>
    entries.flatMap(([id, { keys, always }]) => {
      const handler = current[id]
      if (!handler || (isBusy && !always)) return []
      return keys.filter((one) => !isSingle(one) || (hasSingles && !isBusy)).map((one) => ({ keys: one, handler }))
    }),
  )
}

function isTypedInto(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, select, textarea, [contenteditable], [role=listbox], [role=slider]') !== null
}

/** The address of each place that `g` goes to. */
export const destinations = {
  'go-projects': '/',
  'go-domains': '/domains',
  'go-instance': '/instance',
  'go-account': '/account',
  'go-help': '/help',
  'go-instances': '/instances',
} as const satisfies Partial<Record<ShortcutId, string>>
