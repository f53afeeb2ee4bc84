import { useState } from 'react'

const pages: Record<string, string> = { '/': 'Welcome to Vite and React', '/about': 'About this app' }

export default function App() {
  const [count, setCount] = useState(0)
  return (
    <main>
      <h1>{pages[location.pathname] ?? 'No such page'}</h1>
      <button onClick={() => setCount(count + 1)}>Count is {count}</button>
    </main>
  )
}
