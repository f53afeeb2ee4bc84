import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, Suspense, useEffect, useMemo } from 'react'
import { Route, Router, Switch } from 'wouter'
import { useSyncRemotes } from '../api/remotes.ts'
import { Layout } from './layout.tsx'
import { createInstanceLocation, safeHref } from './instance-location.ts'
import { NotFound } from '../components/not-found.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { InstanceNotFound } from '../features/instances/instance-not-found.tsx'
import { TokenPrompt } from '../features/instances/token-prompt.tsx'
import { useInstanceShortcuts } from '../features/instances/use-instance-shortcuts.ts'
import { useKeyboard } from '../stores/keyboard.ts'
import { ProjectLayout } from './project-layout.tsx'
import { SignIn } from '../features/session/sign-in.tsx'
import { CardPage, KeyboardSheet, NewProject, Palette, prefetchPages, pages } from '../routes.ts'
import { RemoteInstanceContext } from '../lib/remote-instance.ts'
import { instanceBasePath, localInstanceId } from '../lib/instance-path.ts'
import { type InstanceConnection, localConnection, useConnection } from '../stores/connection.ts'
import { useSession } from '../stores/session.ts'
import { useUi } from '../stores/ui.ts'
import { SkeletonRows } from '../components/feedback.tsx'
import { Toasts } from './toasts.tsx'

export function App() {
  const { data: remotes, error, refetch } = useSyncRemotes()
  const requestedId = useConnection((state) => state.requested_id)
  const connection = useConnection((state) => state.connections.find(({ id }) => id === state.requested_id))
  const isTokenRejected = useConnection((state) => state.rejected_ids.includes(state.requested_id))
  const signedOut = useSession((state) => state.signed_out)
  useInstanceShortcuts()
  useEffect(prefetchPages, [])

  if (signedOut)
    return (
      <InstanceProvider connection={localConnection} id={requestedId}>
        <SignIn />
      </InstanceProvider>
    )
  if (!connection)
    return (
      <InstanceProvider connection={localConnection} id={requestedId}>
        <InstanceNotFound isListed={remotes !== undefined} error={error} onRetry={() => void refetch()} />
      </InstanceProvider>
    )
  return (
    // The key resets all component state when another instance becomes current.
    <InstanceProvider connection={connection} id={requestedId} key={requestedId}>
      {connection.is_signed_in && !isTokenRejected ? <Routes /> : <TokenPrompt connection={connection} />}
      <Toasts />
    </InstanceProvider>
  )
}

/** The part of the dashboard that belongs to one instance. */
function InstanceProvider({ connection, id, children }: { connection: InstanceConnection; id: string; children: ReactNode }) {
  const locationHook = useMemo(() => createInstanceLocation(id), [id])
  return (
    <QueryClientProvider client={connection.cache}>
      <RemoteInstanceContext value={connection.id === localInstanceId ? null : connection}>
        <Router base={instanceBasePath(id)} hook={locationHook} hrefs={safeHref}>
          <ErrorBoundary>{children}</ErrorBoundary>
        </Router>
      </RemoteInstanceContext>
    </QueryClientProvider>
  )
}

function Routes() {
  const isHome = useConnection((state) => state.current.id === localInstanceId)
  const paletteOpen = useUi((state) => state.palette_open)
  const newProjectOpen = useUi((state) => state.new_project_open)
  const isShortcutsOpen = useKeyboard((state) => state.is_shortcuts_open)
  return (
    <>
      <Switch>
        {isHome && (
          <Route path="/account/card">
            <Suspense fallback={<SkeletonRows rows={6} height={64} />}>
              <CardPage />
            </Suspense>
          </Route>
        )}
        <Route>
          <Layout>
            <Suspense fallback={<SkeletonRows rows={6} height={64} />}>
              <Switch>
                {Object.entries(pages).map(([path, Page]) => (
                  <Route key={path} path={path} component={Page} />
                ))}
                <Route path="/projects/:slug/*?">{({ slug }) => <ProjectLayout slug={slug} key={slug} />}</Route>
                <Route>
                  <NotFound />
                </Route>
              </Switch>
            </Suspense>
          </Layout>
        </Route>
      </Switch>
      <Suspense>
        {paletteOpen && <Palette />}
        {newProjectOpen && <NewProject />}
        {isShortcutsOpen && <KeyboardSheet />}
      </Suspense>
    </>
  )
}
