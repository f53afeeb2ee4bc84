import { createSignal } from 'solid-js'

export default function App() {
  const [count, setCount] = createSignal(0)
  return <button onClick={() => setCount(count() + 1)}>Count is {count()}</button>
}
