import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, Suspense, useEffect, useMemo } from 'react'
import { Route, Router, Switch } from 'wouter'
import { useListedRemotes } from './api/remotes.ts'
import { Frame } from './features/frame/frame.tsx'
import { locationOf, straightHref } from './features/frame/instance-location.ts'
import { NotFound } from './features/frame/not-found.tsx'
import { Stumble } from './features/frame/stumble.tsx'
import { NoInstance } from './features/instances/no-instance.tsx'
import { TokenNeeded } from './features/instances/token-needed.tsx'
import { useInstanceKeys } from './features/instances/instance-keys.ts'
import { useKeyboard } from './features/keyboard/store.ts'
import { ProjectFrame } from './features/project/project-frame.tsx'
import { SignIn } from './features/session/sign-in.tsx'
import { CardPage, KeyboardSheet, NewProject, Palette, bringTheRest, pages } from './routes.ts'
import { baseOf, homeId } from './stores/address.ts'
import { type Connection, home, useConnection } from './stores/connection.ts'
import { useSession } from './stores/session.ts'
import { useUi } from './stores/ui.ts'
import { SkeletonRows } from './ui/feedback.tsx'
import { Toasts } from './ui/toasts.tsx'

export function App() {
  const { data: listed, error, refetch } = useListedRemotes()
  const wanted = useConnection((state) => state.wanted)
  const connection = useConnection((state) => state.connections.find(({ id }) => id === state.wanted))
  const isRefused = useConnection((state) => state.refused.includes(state.wanted))
  const signedOut = useSession((state) => state.signed_out)
  useInstanceKeys()
  useEffect(bringTheRest, [])

  if (signedOut)
    return (
      <Instance connection={home} id={wanted}>
        <SignIn />
      </Instance>
    )
  if (!connection)
    return (
      <Instance connection={home} id={wanted}>
        <NoInstance isListed={listed !== undefined} error={error} onRetry={() => void refetch()} />
      </Instance>
    )
  return (
    // The key throws away every piece of state of one instance when another one is in front.
    <Instance connection={connection} id={wanted} key={wanted}>
      {connection.is_signed_in && !isRefused ? <Pages /> : <TokenNeeded connection={connection} />}
      <Toasts />
    </Instance>
  )
}

/** What of the dashboard shows one instance, and nothing of another. */
function Instance({ connection, id, children }: { connection: Connection; id: string; children: ReactNode }) {
  const hook = useMemo(() => locationOf(id), [id])
  return (
    <QueryClientProvider client={connection.cache}>
      <Router base={baseOf(id)} hook={hook} hrefs={straightHref}>
        <Stumble>{children}</Stumble>
      </Router>
    </QueryClientProvider>
  )
}

function Pages() {
  const isHome = useConnection((state) => state.current.id === homeId)
  const paletteOpen = useUi((state) => state.palette_open)
  const newProjectOpen = useUi((state) => state.new_project_open)
  const sheetOpen = useKeyboard((state) => state.is_sheet_open)
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
          <Frame>
            <Suspense fallback={<SkeletonRows rows={6} height={64} />}>
              <Switch>
                {Object.entries(pages).map(([path, Page]) => (
                  <Route key={path} path={path} component={Page} />
                ))}
                <Route path="/projects/:slug/*?">{({ slug }) => <ProjectFrame slug={slug} key={slug} />}</Route>
                <Route>
                  <NotFound />
                </Route>
              </Switch>
            </Suspense>
          </Frame>
        </Route>
      </Switch>
      <Suspense>
        {paletteOpen && <Palette />}
        {newProjectOpen && <NewProject />}
        {sheetOpen && <KeyboardSheet />}
      </Suspense>
    </>
  )
}
