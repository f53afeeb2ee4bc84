import { component$ } from '@builder.io/qwik'

export default component$(() => <h1>Hello from Qwik</h1>)
