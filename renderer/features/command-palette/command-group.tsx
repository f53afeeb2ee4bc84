import { Command } from 'cmdk'
import { type ReactNode } from 'react'
import { KeyCaps } from '../../components/key-caps.tsx'
import { type ShortcutId, shortcuts } from '../../stores/shortcuts.ts'
import styles from './command-palette.module.css'

export interface PaletteCommand {
  text: string
  icon: ReactNode
  run: () => void
  /** Other words that find it. */
  synonyms?: string
  /** The keyboard shortcut that does the same. */
  shortcut?: ShortcutId
  /** Shown before anything is typed. */
  isMain?: boolean
}

export interface GroupProps {
  matchesQuery: (text: string) => boolean
  /** `name`: by which it is remembered as recent. */
  run: (command: () => void, name: string) => void
  /** Nothing is typed yet: only main and recent commands are shown. */
  isBlank: boolean
  recent: readonly string[]
}

export function CommandGroup({
  heading,
  commands,
  matchesQuery,
  run,
  isBlank,
  recent,
}: GroupProps & { heading: string; commands: readonly PaletteCommand[] }) {
  const rank = ({ text }: PaletteCommand) => (recent.includes(text) ? recent.indexOf(text) : recent.length)
  const matches = isBlank
    ? commands.filter((one) => one.isMain || recent.includes(one.text)).toSorted((a, b) => rank(a) - rank(b))
    : commands.filter(({ text, synonyms = '' }) => matchesQuery(`${heading} ${text} ${synonyms}`))
  if (matches.length === 0) return null
  return (
    <Command.Group heading={heading}>
      {matches.map((command) => (
        <Command.Item
          key={command.text}
          value={`${heading} ${command.text}`}
          onSelect={() => run(command.run, command.text)}
          className={styles.paletteItem}
        >
          {command.icon}
          {command.text}
          {command.shortcut && (
            <span className={styles.paletteKeys} aria-hidden>
              <KeyCaps keys={shortcuts[command.shortcut].keys[0]} />
            </span>
          )}
        </Command.Item>
      ))}
    </Command.Group>
  )
}
