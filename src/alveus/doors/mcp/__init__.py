"""The Model Context Protocol's door: an agent's memory as tools, resources and prompts.

Whose memory it is, and who speaks, is the server's configuration and no argument of a call: a call can narrow what is
looked at and never widen it. What a model hands in is the agent's word (`src` is `agent`), or a tool's where it says
so; it cannot speak as the user. Every failure that can be foreseen is a tool error with a sentence.

pydantic stays in this door; `mcp` (an extra) is imported when a server is started.
"""
