import { Command } from 'cmdk'
import { useMemo, useRef, useState } from 'react'
import { useRoute } from 'wouter'
import { splitSearchWords } from '../../../server/contract/project-search.ts'
import { useUi } from '../../stores/ui.ts'
import { useRestoreFocus } from '../../lib/use-restore-focus.ts'
import { readRecentCommands, rememberCommand } from './recent-commands.ts'
import styles from './command-palette.module.css'
import { GlobalCommands } from './global-commands.tsx'
import { ProjectCommands } from './project-commands.tsx'
import { DeploymentResults, HelpResults, ProjectLinkResults, ProjectResults } from './results.tsx'

/** Search over all projects and actions. */
export default function CommandPalette() {
  const setOpen = useUi((state) => state.setPaletteOpen)
  const [query, setQuery] = useState('')
  const [, params] = useRoute('/projects/:slug/*?')
  const terms = useMemo(() => splitSearchWords(query), [query])
  const [recent] = useState(readRecentCommands)
  const matchesQuery = (text: string) => terms.every((word) => text.toLowerCase().includes(word))
  const isBlank = terms.length === 0
  const run = (command: () => void, name: string) => {
    setOpen(false)
    rememberCommand(name)
    command()
  }
  const group = { matchesQuery, run, isBlank, recent }
  const dialogRef = useRef<HTMLDivElement>(null)
  useRestoreFocus(dialogRef)

  return (
    <Command.Dialog
      ref={dialogRef}
      open
      onOpenChange={setOpen}
      label="Search or run a command"
      shouldFilter={false}
      overlayClassName="scrim"
      contentClassName={styles.palette}
      loop
    >
      <Command.Input value={query} onValueChange={setQuery} placeholder="Search projects and commands" className={styles.paletteInput} />
      <Command.List className={styles.paletteList}>
        <Command.Empty className={`${styles.paletteEmpty} text-muted`}>No results for “{query}”.</Command.Empty>
        {params?.slug && <ProjectCommands slug={params.slug} {...group} />}
        {params?.slug && !isBlank && <DeploymentResults slug={params.slug} matchesQuery={matchesQuery} run={run} />}
        <ProjectResults terms={terms} {...group} />
        <ProjectLinkResults terms={terms} run={run} />
        <GlobalCommands {...group} />
        {!isBlank && <HelpResults query={query} run={run} />}
      </Command.List>
    </Command.Dialog>
  )
}
