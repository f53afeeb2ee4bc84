import { useQueryClient } from '@tanstack/react-query'
import { Menu as MenuIcon, Search, X } from 'lucide-react'
import { type ReactNode, Suspense, useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import { localInstanceId, hostLabel } from '../lib/instance-path.ts'
import { followInstanceEvents } from '../api/instance-events.ts'
import { useConnection } from '../stores/connection.ts'
import { promotionsStorageKey, usePromotions } from '../stores/promotions.ts'
import { readPreference, useUi } from '../stores/ui.ts'
import { IconButton } from '../components/button.tsx'
import { lazyWithRetry, loadWithRetry } from '../lib/load-with-retry.ts'
import { Logo } from '../components/logo.tsx'
import { InstanceIcon } from '../components/instance-icon.tsx'
import { useGlobalShortcuts } from '../features/keyboard/use-global-shortcuts.ts'
import { NotificationBell, NotificationAnnouncer } from '../features/notifications/notification-bell.tsx'
import { useHealthNotifications, useNotificationListener } from '../features/notifications/use-notification-listener.ts'
import { usePreventStrayDrops } from '../features/upload/use-prevent-stray-drops.ts'
import { useDesktopBridge } from './use-desktop-bridge.ts'
import { useRestoreLostFocus } from './restore-focus.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { RemoteBanner } from './remote-banner.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Sidebar } from './sidebar.tsx'
import './layout.css'

const Promotions = lazyWithRetry(() => import('../features/promotion/promotions.tsx'))

/** The frame around all pages: sidebar, connection status and global shortcuts. */
export function Layout({ children }: { children: ReactNode }) {
  const connection = useConnection((state) => state.current)
  const { id, client } = connection
  const isRemote = id !== localInstanceId
  const sidebarOpen = useUi((state) => state.sidebar_open)
  const setSidebarOpen = useUi((state) => state.setSidebarOpen)
  const setPaletteOpen = useUi((state) => state.setPaletteOpen)
  const [location] = useLocation()
  const cache = useQueryClient()
  const notifyDesktop = useDesktopBridge()
  const recordNotification = useNotificationListener(connection)
  const isPromoting = usePromotions(({ promotions }) => promotions.length > 0)
  const isListed = useConnection((state) => state.is_listed)
  useHealthNotifications(connection)
  usePreventStrayDrops()
  useGlobalShortcuts()
  useRestoreLostFocus()

  useEffect(() => {
    return followInstanceEvents(client, cache, id, {
      onState: (stream) => useConnection.getState().setStream(stream),
      beforeEvent: recordNotification,
      afterEvent: notifyDesktop,
    })
  }, [client, id, cache, recordNotification, notifyDesktop])

  // Restores promotions of a closed page, once the list of instances is known.
  useEffect(() => {
    if (isListed && readPreference(promotionsStorageKey) !== null)
      void loadWithRetry(() => import('../features/promotion/run-promotion.ts'))
        .then(({ resumePromotions }) => resumePromotions())
        .catch(() => undefined)
  }, [isListed])
  useEffect(() => setSidebarOpen(false), [location, setSidebarOpen])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && useUi.getState().sidebar_open) setSidebarOpen(false)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [setSidebarOpen])

  return (
    <div className={isRemote ? 'layout layout-remote' : 'layout'} style={{ '--hue': connection.hue } as React.CSSProperties}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="topbar">
        <IconButton
          icon={sidebarOpen ? X : MenuIcon}
          label={sidebarOpen ? 'Close menu' : 'Menu'}
          aria-expanded={sidebarOpen}
          onClick={() => setSidebarOpen(!sidebarOpen)}
        />
        {isRemote ? (
          <Link href="/" className="topbar-home topbar-remote">
            <InstanceIcon connection={connection} size={26} />
            <span className="topbar-names">
              <span className="truncate">{connection.name}</span>
              <span className="truncate mono">{hostLabel(connection.origin)}</span>
            </span>
            <span className="visually-hidden">, projects</span>
          </Link>
        ) : (
          <Link href="/" className="topbar-home" aria-label="Homeport, projects">
            <Logo size={24} /> Homeport
          </Link>
        )}
        <span className="topbar-tools">
          <NotificationBell align="end" />
          <IconButton icon={Search} label="Search or run a command" onClick={() => setPaletteOpen(true)} />
        </span>
      </header>
      <NotificationAnnouncer />
      {sidebarOpen && <div className="sidebar-scrim" onClick={() => setSidebarOpen(false)} aria-hidden />}
      <Sidebar open={sidebarOpen} />
      <div className="main-column">
        {isRemote && <RemoteBanner connection={connection} />}
        <ConnectionBanner />
        {isPromoting && (
          <Suspense>
            <Promotions />
          </Suspense>
        )}
        <main id="main" tabIndex={-1}>
          <ErrorBoundary resetKey={location}>{children}</ErrorBoundary>
        </main>
      </div>
    </div>
  )
}
