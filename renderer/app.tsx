import { QueryClientProvider } from '@tanstack/react-query'
import { Suspense, useEffect } from 'react'
import { Route, Router, Switch } from 'wouter'
import { Frame } from './features/frame/frame.tsx'
import { NotFound } from './features/frame/not-found.tsx'
import { Stumble } from './features/frame/stumble.tsx'
import { useKeyboard } from './features/keyboard/store.ts'
import { ProjectFrame } from './features/project/project-frame.tsx'
import { SignIn } from './features/session/sign-in.tsx'
import { CardPage, KeyboardSheet, NewProject, Palette, base, bringTheRest, pages } from './routes.ts'
import { useConnection } from './stores/connection.ts'
import { useSession } from './stores/session.ts'
import { useUi } from './stores/ui.ts'
import { SkeletonRows } from './ui/feedback.tsx'
import { Toasts } from './ui/toasts.tsx'

export function App() {
  const connection = useConnection((state) => state.current)
  const signedOut = useSession((state) => state.signed_out)
  const paletteOpen = useUi((state) => state.palette_open)
  const newProjectOpen = useUi((state) => state.new_project_open)
  const sheetOpen = useKeyboard((state) => state.is_sheet_open)
  useEffect(bringTheRest, [])

  return (
    // The key throws away every piece of state of one instance when another one is in front.
    <QueryClientProvider client={connection.cache} key={connection.id}>
      <Router base={base}>
        <Stumble>
          {signedOut ? (
            <SignIn />
          ) : (
            <Switch>
              <Route path="/account/card">
                <Suspense fallback={<SkeletonRows rows={6} height={64} />}>
                  <CardPage />
                </Suspense>
              </Route>
              <Route>
                <Frame>
                  <Suspense fallback={<SkeletonRows rows={6} height={64} />}>
                    <Switch>
                      {Object.entries(pages).map(([path, Page]) => (
                        <Route key={path} path={path} component={Page} />
                      ))}
                      <Route path="/projects/:slug/*?">{({ slug }) => <ProjectFrame slug={slug} key={slug} />}</Route>
                      <Route component={NotFound} />
                    </Switch>
                  </Suspense>
                </Frame>
              </Route>
            </Switch>
          )}
          <Suspense>
            {paletteOpen && !signedOut && <Palette />}
            {newProjectOpen && !signedOut && <NewProject />}
            {sheetOpen && <KeyboardSheet />}
          </Suspense>
        </Stumble>
        <Toasts />
      </Router>
    </QueryClientProvider>
  )
}
