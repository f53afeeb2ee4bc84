import { useQueryClient } from '@tanstack/react-query'
import { Menu as MenuIcon, Search, X } from 'lucide-react'
import { type ReactNode, Suspense, useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import { homeId } from '../../stores/address.ts'
import { followInstance } from '../../api/instance-stream.ts'
import { useConnection } from '../../stores/connection.ts'
import { keptPromotions, usePromotions } from '../../stores/promotions.ts'
import { recall, useUi } from '../../stores/ui.ts'
import { IconButton } from '../../ui/button.tsx'
import { lazyPart, loadPart } from '../../ui/load-part.ts'
import { Logo } from '../../ui/logo.tsx'
import { hostOf } from '../instances/host.ts'
import { InstanceMark } from '../instances/instance-mark.tsx'
import { useFrameKeys } from '../keyboard/frame-keys.ts'
import { NoticeBell, NoticeVoice } from '../notices/bell.tsx'
import { useHealthNotices, useNoticeListener } from '../notices/use-listener.ts'
import { useNoStrayDrops } from '../upload/stray-drops.ts'
import { useDesktop } from './desktop.ts'
import { useKeptFocus } from './kept-focus.ts'
import { LineBar } from './line-bar.tsx'
import { RemoteBar } from './remote-bar.tsx'
import { Stumble } from './stumble.tsx'
import { Rail } from './rail.tsx'
import './frame.css'

const Promotions = lazyPart(() => import('../promote/promotions.tsx'))

/** What stays while pages come and go: the rail, the state of the line, the keys that work everywhere. */
export function Frame({ children }: { children: ReactNode }) {
  const connection = useConnection((state) => state.current)
  const { id, client } = connection
  const isRemote = id !== homeId
  const railOpen = useUi((state) => state.rail_open)
  const setRailOpen = useUi((state) => state.setRailOpen)
  const setPaletteOpen = useUi((state) => state.setPaletteOpen)
  const [location] = useLocation()
  const cache = useQueryClient()
  const tellDesktop = useDesktop()
  const tellNotices = useNoticeListener(connection)
  const isPromoting = usePromotions(({ promotions }) => promotions.length > 0)
  const isListed = useConnection((state) => state.is_listed)
  useHealthNotices(connection)
  useNoStrayDrops()
  useFrameKeys()
  useKeptFocus()

  useEffect(() => {
    return followInstance(client, cache, id, {
      onState: (stream) => useConnection.getState().setStream(stream),
      onNews: tellNotices,
      onEvent: tellDesktop,
    })
  }, [client, id, cache, tellNotices, tellDesktop])

  // What was under way when the page was closed; only once it is known which instances there are.
  useEffect(() => {
    if (isListed && recall(keptPromotions) !== null)
      void loadPart(() => import('../promote/promote.ts'))
        .then(({ takeUp }) => takeUp())
        .catch(() => undefined)
  }, [isListed])
  useEffect(() => setRailOpen(false), [location, setRailOpen])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && useUi.getState().rail_open) setRailOpen(false)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [setRailOpen])

  return (
    <div className={isRemote ? 'frame frame-remote' : 'frame'} style={{ '--hue': connection.hue } as React.CSSProperties}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="topbar">
        <IconButton
          icon={railOpen ? X : MenuIcon}
          label={railOpen ? 'Close menu' : 'Menu'}
          aria-expanded={railOpen}
          onClick={() => setRailOpen(!railOpen)}
        />
        {isRemote ? (
          <Link href="/" className="topbar-home topbar-remote">
            <InstanceMark connection={connection} size={26} />
            <span className="topbar-names">
              <span className="clip">{connection.name}</span>
              <span className="clip mono">{hostOf(connection.origin)}</span>
            </span>
            <span className="unseen">, projects</span>
          </Link>
        ) : (
          <Link href="/" className="topbar-home" aria-label="Homeport, projects">
            <Logo size={24} /> Homeport
          </Link>
        )}
        <span className="topbar-tools">
          <NoticeBell align="end" />
          <IconButton icon={Search} label="Search or run a command" onClick={() => setPaletteOpen(true)} />
        </span>
      </header>
      <NoticeVoice />
      {railOpen && <div className="rail-scrim" onClick={() => setRailOpen(false)} aria-hidden />}
      <Rail open={railOpen} />
      <div className="main-column">
        {isRemote && <RemoteBar connection={connection} />}
        <LineBar />
        {isPromoting && (
          <Suspense>
            <Promotions />
          </Suspense>
        )}
        <main id="main" tabIndex={-1}>
          <Stumble at={location}>{children}</Stumble>
        </main>
      </div>
    </div>
  )
}
