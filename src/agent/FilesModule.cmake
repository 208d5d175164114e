# The agent's file operations: a module of their own, without any library, so that they can be
# tested without the agent.
cove_add_module(agent_files
  SOURCES files/files.cpp files/path_resolver.cpp files/path_walk.cpp files/readable_directory.cpp
          files/directory_trail.cpp files/directory_stream.cpp files/sorted_walk.cpp
          files/directory_listing.cpp files/file_facts.cpp files/content_type.cpp
          files/line_reader.cpp files/temporary_file.cpp files/file_writer.cpp files/file_move.cpp
          files/tree_removal.cpp
          edits/text_edits.cpp edits/nearest_lines.cpp edits/file_editor.cpp
          trees/file_copy.cpp trees/tree_copy.cpp trees/tree_packer.cpp trees/tree_unpacker.cpp
          watch/directory_watch.cpp
  LINK cove_base)
