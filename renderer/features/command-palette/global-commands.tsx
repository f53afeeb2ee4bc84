import {
  Anchor,
  Archive,
  CircleHelp,
  Database,
  Eraser,
  Globe,
  HardDrive,
  History,
  Keyboard,
  KeyRound,
  Monitor,
  Moon,
  Plus,
  Server,
  ShieldCheck,
  ScrollText,
  Ship,
  Sun,
  UserRound,
  Wifi,
} from 'lucide-react'
import { useLocation } from 'wouter'
import { useInstanceSession } from '../../api/instance.ts'
import { useHomeSession } from '../../api/remotes.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { basePath, hostLabel } from '../../lib/instance-path.ts'
import { useConnection, switchInstance } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { InstanceIcon } from '../../components/instance-icon.tsx'
import { useKeyboard } from '../../stores/keyboard.ts'
import { CommandGroup, type GroupProps, type PaletteCommand } from './command-group.tsx'

/** Actions and pages of the instance and the account. */
export function GlobalCommands(group: GroupProps) {
  const [, navigate] = useLocation()
  const setTheme = useUi((state) => state.setTheme)
  const isOwner = useInstanceSession().data?.user.is_instance_owner ?? false
  const setNewProjectOpen = useUi((state) => state.setNewProjectOpen)
  const setSheetOpen = useKeyboard((state) => state.setShortcutsOpen)
  const capabilities = useCapabilities()
  const localSession = useHomeSession().data
  const currentId = useConnection((state) => state.current.id)
  const connections = useConnection((state) => state.connections)
  const commands: PaletteCommand[] = [
    {
      text: 'New project',
      synonyms: 'create add deploy',
      shortcut: 'new-project',
      isMain: true,
      icon: <Plus size={16} aria-hidden />,
      run: () => setNewProjectOpen(true),
    },
    { text: 'All projects', shortcut: 'go-projects', isMain: true, icon: <Ship size={16} aria-hidden />, run: () => navigate('/') },
    { text: 'Account: plan and card', shortcut: 'go-account', icon: <UserRound size={16} aria-hidden />, run: () => navigate('/account?at=plan') },
    { text: 'All domains', shortcut: 'go-domains', icon: <Globe size={16} aria-hidden />, run: () => navigate('/domains') },
    { text: 'Account: API tokens', icon: <KeyRound size={16} aria-hidden />, run: () => navigate('/account?at=tokens') },
    { text: 'Account: create API token…', icon: <KeyRound size={16} aria-hidden />, run: () => navigate('/account?do=token') },
    ...(capabilities.has_instance_api
      ? [
          { text: 'Search all logs', synonyms: 'output errors lines find', icon: <ScrollText size={16} aria-hidden />, run: () => navigate('/logs') },
          { text: 'All activity', icon: <History size={16} aria-hidden />, run: () => navigate('/activity') },
          {
            text: 'Instance: health, load and runtime',
            shortcut: 'go-instance' as const,
            icon: <Anchor size={16} aria-hidden />,
            run: () => navigate('/instance'),
          },
          {
            text: 'Instance: settings and people',
            synonyms: 'config developer plan',
            icon: <Anchor size={16} aria-hidden />,
            run: () => navigate('/instance/settings'),
          },
        ]
      : []),
    ...connections
      .filter(({ id }) => id !== currentId)
      .map((connection) => ({
        text: `Switch to ${connection.name}, ${hostLabel(connection.origin)}`,
        icon: <InstanceIcon connection={connection} size={18} />,
        run: () => switchInstance(connection.id),
      })),
    ...(localSession?.user.is_instance_owner
      ? [
          { text: 'All instances', icon: <Server size={16} aria-hidden />, run: () => navigate(`~${basePath}/instances`) },
          {
            text: 'Add instance…',
            icon: <Server size={16} aria-hidden />,
            run: () => navigate(`~${basePath}/instances?do=add`),
          },
        ]
      : []),
    ...(isOwner
      ? [
          { text: 'Network: open to phones and other devices…', icon: <Wifi size={16} aria-hidden />, run: () => navigate('/instance/network') },
          { text: 'Network: set owner password…', icon: <Wifi size={16} aria-hidden />, run: () => navigate('/instance/network?at=lan') },
          {
            text: 'Network: trust HTTPS on this machine…',
            icon: <ShieldCheck size={16} aria-hidden />,
            run: () => navigate('/instance/network?at=https'),
          },
          {
            text: 'Network: redirect HTTP to HTTPS…',
            icon: <ShieldCheck size={16} aria-hidden />,
            run: () => navigate('/instance/network?at=https'),
          },
          { text: 'Network: hosts file…', icon: <Wifi size={16} aria-hidden />, run: () => navigate('/instance/network?at=hosts-file') },
          { text: 'Disk: usage', icon: <HardDrive size={16} aria-hidden />, run: () => navigate('/instance/disk') },
          { text: 'Disk: clean up…', icon: <Eraser size={16} aria-hidden />, run: () => navigate('/instance/disk?do=clean') },
          { text: 'Backups: create or download', icon: <Archive size={16} aria-hidden />, run: () => navigate('/instance/backups') },
          { text: 'Backups: restore…', icon: <Archive size={16} aria-hidden />, run: () => navigate('/instance/backups?at=restore') },
          {
            text: 'Backups: all database dumps',
            icon: <Database size={16} aria-hidden />,
            run: () => navigate('/instance/backups?at=every-dump'),
          },
        ]
      : []),
    { text: 'Help: all topics', shortcut: 'go-help', isMain: true, icon: <CircleHelp size={16} aria-hidden />, run: () => navigate('/help') },
    { text: 'Keyboard shortcuts', shortcut: 'sheet', icon: <Keyboard size={16} aria-hidden />, run: () => setSheetOpen(true) },
    { text: 'Theme: light', icon: <Sun size={16} aria-hidden />, run: () => setTheme('light') },
    { text: 'Theme: dark', icon: <Moon size={16} aria-hidden />, run: () => setTheme('dark') },
    { text: 'Theme: system', icon: <Monitor size={16} aria-hidden />, run: () => setTheme('system') },
  ]
  return <CommandGroup heading="Homeport" commands={commands} {...group} />
}
