import { useLayoutEffect, useRef } from 'react'
import { chordFromEvent, createKeySequence, isApple, isSingleKey } from '../lib/key-chords.ts'
import { useKeyboard } from './keyboard.ts'

/** Scope of a shortcut, in the order of the dialog's sections. */
export const shortcutGroups = {
  everywhere: 'Everywhere',
  go: 'Go to',
  project: 'In a project',
  list: 'In lists',
} as const

export interface Shortcut {
  /** Alternatives. Keys of a chord are joined by `+`, keys one after another by a space: `mod+k`, `g p`. */
  keys: readonly string[]
  /** Label in the dialog for a group of similar keys: `g 1 … g 9`. */
  keysLabel?: string
  description: string
  group: keyof typeof shortcutGroups
  /** Its chords also work in dialogs and while typing in a field; single characters never do. */
  isGlobal?: boolean
}

/**
 * All shortcuts of the dashboard, for `useShortcuts` and the dialog. Before adding one: browsers and screen readers reserve most chords with Ctrl
 * and ⌘ (C, F, L, N, P, R, T, W, 1 to 9), and single characters are disabled in fields, menus and dialogs.
 */
export const shortcuts = {
  palette: { keys: ['mod+k', '/'], description: 'Search or run a command', group: 'everywhere', isGlobal: true },
  'new-project': { keys: ['n'], description: 'New project', group: 'everywhere' },
  sheet: { keys: ['?', 'mod+/'], description: 'Keyboard shortcuts', group: 'everywhere' },
  'go-projects': { keys: ['g p'], description: 'Projects', group: 'go' },
  'go-domains': { keys: ['g d'], description: 'Domains', group: 'go' },
  'go-instance': { keys: ['g i'], description: 'This instance', group: 'go' },
  'go-account': { keys: ['g a'], description: 'Account', group: 'go' },
  'go-instances': { keys: ['g s'], description: 'All instances', group: 'go' },
  // Ctrl and Alt with a digit switch browser tabs; ⌘⇧ with 3, 4 and 5 takes screenshots on a Mac.
  instance: {
    keys: [...digitKeys('g '), ...digitKeys('mod+alt+'), ...digitKeys('mod+shift+')],
    keysLabel: isApple ? '⌘ ⌥ 1 … 9, or g 1 … 9' : 'Ctrl Shift 1 … 9, or g 1 … 9',
    description: 'Switch to an instance by its position',
    group: 'go',
    isGlobal: true,
  },
  'go-help': { keys: ['g h'], description: 'Help', group: 'go' },
  deploy: { keys: ['d'], description: 'Deploy', group: 'project' },
  open: { keys: ['o'], description: 'Open the app in a browser', group: 'project' },
  overview: { keys: ['v'], description: 'Overview', group: 'project' },
  logs: { keys: ['l'], description: 'Logs', group: 'project' },
  environment: { keys: ['e'], description: 'Environment', group: 'project' },
  down: { keys: ['j', 'arrowdown'], description: 'Next row; Enter opens it', group: 'list' },
  up: { keys: ['k', 'arrowup'], description: 'Previous row', group: 'list' },
} as const satisfies Record<string, Shortcut>

function digitKeys(before: string): readonly string[] {
  return Array.from({ length: 9 }, (_, index) => `${before}${index + 1}`)
}

export type ShortcutId = keyof typeof shortcuts
/** Returns false to leave the key to the browser. */
export type ShortcutHandlers = { [Id in ShortcutId]?: ((event: KeyboardEvent, keys: string) => unknown) | undefined | false }

const entries = Object.entries(shortcuts) as [ShortcutId, Shortcut][]
const handlerLayers = new Set<{ current: ShortcutHandlers }>()
const keySequence = createKeySequence()

/** Handles shortcuts while the component is mounted. Keys without a handler are left to the browser. */
export function useShortcuts(handlers: ShortcutHandlers): void {
  const layer = useRef(handlers)
  // A layout effect, so that visible content has its shortcuts immediately.
  useLayoutEffect(() => {
    layer.current = handlers
  })
  useLayoutEffect(() => {
    if (handlerLayers.size === 0) window.addEventListener('keydown', onKey)
    handlerLayers.add(layer)
    return () => {
      handlerLayers.delete(layer)
      if (handlerLayers.size === 0) window.removeEventListener('keydown', onKey)
    }
  }, [])
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const chord = chordFromEvent(event)
  if (chord === null) return
  const bindings = activeBindings(event)
  const { complete, isPartial } = keySequence.press(
    chord,
    bindings.map(({ keys }) => keys),
    event.timeStamp,
  )
  if (isPartial) return event.preventDefault()
  const isHandled = bindings.some(({ keys, handler }) => keys === complete && handler(event, keys) !== false)
  if (isHandled) event.preventDefault()
}

/** The shortcuts that are active in the current context. */
function activeBindings(event: KeyboardEvent) {
  const hasSingleKeys = useKeyboard.getState().has_single_keys
  const isBusy = isTextEntry(event.target) || document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') !== null
  return [...handlerLayers].flatMap(({ current }) =>
    entries.flatMap(([id, { keys, isGlobal }]) => {
      const handler = current[id]
      if (!handler || (isBusy && !isGlobal)) return []
      return keys.filter((one) => !isSingleKey(one) || (hasSingleKeys && !isBusy)).map((one) => ({ keys: one, handler }))
    }),
  )
}

function isTextEntry(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, select, textarea, [contenteditable], [role=listbox], [role=slider]') !== null
}

/** Path of each `g` shortcut. */
export const destinations = {
  'go-projects': '/',
  'go-domains': '/domains',
  'go-instance': '/instance',
  'go-account': '/account',
  'go-help': '/help',
  'go-instances': '/instances',
} as const satisfies Partial<Record<ShortcutId, string>>
