import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { applyTheme, useUi } from './stores/ui.ts'
import './ui/tokens.css'
import './ui/base.css'

applyTheme(useUi.getState().theme)

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
