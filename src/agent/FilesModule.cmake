# The agent's file operations: a module of their own, without any library, so that they can be
# tested without the agent.
cove_add_module(agent_files
  SOURCES files/files.cpp files/path_resolver.cpp files/path_walk.cpp files/directory_trail.cpp
          files/file_facts.cpp files/file_writer.cpp files/directory_listing.cpp
          files/directory_stream.cpp files/tree_removal.cpp
  LINK cove_base)
