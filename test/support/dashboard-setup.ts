import { cleanup } from '@testing-library/react'
import { afterEach, vi } from 'vitest'
import { localConnection, useConnection } from '../../renderer/stores/connection.ts'
import { usePromotions } from '../../renderer/stores/promotions.ts'
import { useSession } from '../../renderer/stores/session.ts'
import { useUi } from '../../renderer/stores/ui.ts'
import { useUploads } from '../../renderer/stores/uploads.ts'

// Files share a document and the stores. Vitest runs this before each file.

afterEach(() => {
  cleanup()
  localConnection.cache.clear()
  for (const store of [useConnection, usePromotions, useSession, useUi, useUploads]) resetStore(store)
  document.body.replaceChildren()
  localStorage.clear()
  sessionStorage.clear()
  history.replaceState(null, '', '/app/')
  vi.unstubAllGlobals()
})

function resetStore(store: { getInitialState(): object; setState(state: never, replaces: true): void }): void {
  store.setState(store.getInitialState() as never, true)
}
